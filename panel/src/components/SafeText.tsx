import { Fragment, type ReactNode } from "react";
import { CitationChip } from "./CitationChip";
import styles from "./SafeText.module.css";

/**
 * Stored text as React elements: paragraphs, lists, code, bold, links and citations. Text never becomes HTML, so that
 * nothing that was stored can run. A link shows its address, so that its label cannot hide it.
 */
export function SafeText({ text, isPlain = false }: { text: string; isPlain?: boolean }) {
  if (isPlain) return <div className={styles.plain}>{text}</div>;
  return <div className={styles.text}>{blocks(text)}</div>;
}

/** A short stored text on one line of thought: code and bold, without links, lists and citations. */
export function SafeInline({ text }: { text: string }) {
  return <span className={styles.inline}>{inline(text, shortElement)}</span>;
}

const FENCE = /^```/;
const BULLET = /^\s*(?:[-*•]|\d+[.)])\s+/;
const HEADING = /^#{1,6}\s+/;

function blocks(text: string): ReactNode[] {
  const made: ReactNode[] = [];
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!;
    const end = endOfBlock(lines, at);
    const part = lines.slice(at, end);
    if (FENCE.test(line)) made.push(<pre key={at}>{part.slice(1).filter((each) => !FENCE.test(each)).join("\n")}</pre>);
    else if (BULLET.test(line)) {
      made.push(
        <ul key={at}>
          {part.map((each, index) => (
            <li key={index}>{inline(each.replace(BULLET, ""))}</li>
          ))}
        </ul>,
      );
    } else if (HEADING.test(line)) made.push(<p key={at} className={styles.heading}>{inline(line.replace(HEADING, ""))}</p>);
    else if (line.trim()) made.push(<p key={at}>{inline(part.join("\n"))}</p>);
    at = end;
  }
  return made;
}

/** The line after the block that begins at a line. */
function endOfBlock(lines: readonly string[], at: number): number {
  const first = lines[at]!;
  const after = (isPart: (line: string) => boolean) => {
    const end = lines.findIndex((line, index) => index > at && !isPart(line));
    return end === -1 ? lines.length : end;
  };
  if (FENCE.test(first)) {
    const close = lines.findIndex((line, index) => index > at && FENCE.test(line));
    return close === -1 ? lines.length : close + 1;
  }
  if (BULLET.test(first)) return after((line) => BULLET.test(line));
  if (HEADING.test(first) || !first.trim()) return at + 1;
  return after((line) => line.trim() !== "" && !FENCE.test(line) && !BULLET.test(line) && !HEADING.test(line));
}

const INLINE =
  /(`[^`\n]+`)|(\*\*[^*\n]+\*\*)|\[\^?\s*Memory\s+#([\w-]+):\s*([^\]\n]{1,400})\]|\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)|(https?:\/\/[^\s<>"')]+)/g;

function inline(text: string, render: (match: RegExpMatchArray) => ReactNode = element): ReactNode[] {
  const made: ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > from) made.push(<Fragment key={from}>{text.slice(from, match.index)}</Fragment>);
    made.push(<Fragment key={match.index}>{render(match)}</Fragment>);
    from = match.index + match[0].length;
  }
  made.push(<Fragment key="end">{text.slice(from)}</Fragment>);
  return made;
}

function element([all, code, bold, memory, memoryText, label, address, url]: RegExpMatchArray): ReactNode {
  if (code) return <code>{code.slice(1, -1)}</code>;
  if (bold) return <strong>{bold.slice(2, -2)}</strong>;
  if (memory) return <CitationChip id={memory} text={memoryText!} />;
  const target = address ?? url;
  if (!target) return all;
  return (
    <>
      {label && `${label} `}
      <a href={target} target="_blank" rel="noreferrer noopener nofollow">
        {target}
      </a>
    </>
  );
}

function shortElement(match: RegExpMatchArray): ReactNode {
  const [all, code, bold] = match;
  return code || bold ? element(match) : all;
}
