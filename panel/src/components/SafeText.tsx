import { BookMarked } from "lucide-react";
import { Fragment, useState, type ReactNode } from "react";
import { useT } from "@/i18n";
import { Button } from "./Button";
import { CitationChip } from "./CitationChip";
import styles from "./SafeText.module.css";

/**
 * Stored text as React elements: paragraphs, lists, code, bold, links and citations. Text never becomes HTML, so that
 * nothing that was stored can run. A link shows its address, so that its label cannot hide it.
 */
export function SafeText({ text, isPlain = false }: { text: string; isPlain?: boolean }) {
  const { tn } = useT();
  const [isOpen, setOpen] = useState(false);
  if (isPlain) return <div className={styles.plain}>{text}</div>;
  const cited = citedIds(text);
  if (cited.length <= MOST_CITATIONS || isOpen) return <div className={styles.text}>{blocks(text, element)}</div>;
  return (
    <div className={styles.text}>
      {blocks(text, (match) => element(match, cited))}
      <Button size="s" icon={BookMarked} onPress={() => setOpen(true)}>
        {tn("citation.used", cited.length)}
      </Button>
    </div>
  );
}

/** More citations than these are shown as numbers until they are opened. */
const MOST_CITATIONS = 5;

function citedIds(text: string): string[] {
  return [...new Set([...text.matchAll(INLINE)].flatMap((match) => match.groups!["memory"] ?? []))];
}

/** A short stored text on one line of thought: code and bold, without links, lists and citations. */
export function SafeInline({ text }: { text: string }) {
  return <span className={styles.inline}>{inline(text, shortElement)}</span>;
}

const FENCE = /^```/;
const BULLET = /^\s*(?:[-*•]|\d+[.)])\s+/;
const HEADING = /^#{1,6}\s+/;

type Render = (match: RegExpMatchArray) => ReactNode;

function blocks(text: string, render: Render): ReactNode[] {
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
            <li key={index}>{inline(each.replace(BULLET, ""), render)}</li>
          ))}
        </ul>,
      );
    } else if (HEADING.test(line)) made.push(<p key={at} className={styles.heading}>{inline(line.replace(HEADING, ""), render)}</p>);
    else if (line.trim()) made.push(<p key={at}>{inline(part.join("\n"), render)}</p>);
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
  /(?<code>`[^`\n]+`)|(?<bold>\*\*[^*\n]+\*\*)|\[\^?\s?Memory\s#(?<memory>[\w-]+)(?::\s*(?<said>[^\]\n]{1,400}))?\]|\[(?<label>[^\]\n]+)\]\((?<address>https?:\/\/[^\s)]+)\)|(?<url>https?:\/\/[^\s<>"')]+)/gi;

function inline(text: string, render: Render): ReactNode[] {
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

/** `numbered` are the cited ids whose numbers are shown instead of their texts. */
function element(match: RegExpMatchArray, numbered?: readonly string[]): ReactNode {
  const { code, bold, memory, said, label, address, url } = match.groups!;
  if (code) return <code>{code.slice(1, -1)}</code>;
  if (bold) return <strong>{bold.slice(2, -2)}</strong>;
  if (memory) return <CitationChip id={memory} text={said} number={numbered && numbered.indexOf(memory) + 1} />;
  const target = address ?? url;
  if (!target) return match[0];
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
  const { code, bold } = match.groups!;
  return code || bold ? element(match) : match[0];
}
