// @ts-check
const WIDTH = 16;

/** One line of one program, so that the lines of all can be told apart. @param {string} who @param {string} line */
export const say = (who, line) => void process.stdout.write(`${who.padEnd(WIDTH)} | ${line}\n`);

/** Whoever read our lines may have gone; the services go on. */
export const surviveClosedOutput = () => process.stdout.on('error', () => undefined);
