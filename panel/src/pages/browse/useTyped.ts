import { useEffect, useRef, useState } from "react";

const DELAY_MS = 180;

/** Text of a field that is reported a moment after the last key, so that not every letter is a request. */
export function useTyped(value: string, report: (value: string) => void): [string, (text: string) => void] {
  const [text, setText] = useState(value);
  const reported = useRef(value);
  const latest = useRef(report);
  latest.current = report;
  useEffect(() => {
    if (value !== reported.current) {
      reported.current = value;
      setText(value);
    }
  }, [value]);
  useEffect(() => {
    if (text === reported.current) return;
    const timer = setTimeout(() => {
      reported.current = text;
      latest.current(text);
    }, DELAY_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, setText];
}
