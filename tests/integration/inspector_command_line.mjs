// Runs a command of the Inspector for each line of stdin, a JSON array of arguments, and prints what the command printed.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { runCli } = await import(pathToFileURL(process.argv[2]).href);
const write = process.stdout.write.bind(process.stdout);

for await (const line of createInterface({ input: process.stdin })) {
  let printed = "";
  let error = null;
  process.stdout.write = (text, ...rest) => {
    printed += text;
    rest.findLast((each) => typeof each === "function")?.();
    return true;
  };
  try {
    await runCli(JSON.parse(line));
  } catch (failure) {
    error = String(failure?.stack ?? failure);
  } finally {
    process.stdout.write = write;
  }
  write(`${JSON.stringify({ printed, error })}\n`);
}
