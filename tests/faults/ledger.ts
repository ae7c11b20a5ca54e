import { fork, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '#tools/test-servers';

/** What clients may ask for; the checker knows for each what an answer promises. */
export type Operation =
  | 'open'
  | 'decide'
  | 'revoke'
  | 'use'
  | 'outcome'
  | 'settle'
  | 'end'
  | 'cancel'
  | 'pull'
  | 'resume'
  | 'resume-as-holder'
  | 'extend'
  | 'give-back'
  | 'done'
  | 'issue-token'
  | 'revoke-token'
  | 'give-grant'
  | 'end-grant'
  | 'read-turn';

export interface Asked {
  readonly is: 'asked';
  readonly id: number;
  readonly op: Operation;
  readonly at: number;
  /** Who asks: the token's subject. */
  readonly by: string;
  readonly path: string;
  readonly key?: string;
  readonly body: any;
}

/** `unclear`: no answer, or one that says that it is not known. The last entry of an id is what it came to. */
export interface Told {
  readonly is: 'told';
  readonly id: number;
  readonly at: number;
  readonly status: number;
  readonly body: any;
}
export interface Unclear {
  readonly is: 'unclear';
  readonly id: number;
  readonly at: number;
  readonly why: string;
}

/** A tool's body really ran, with arguments of this digest. */
export interface Ran {
  readonly is: 'ran';
  readonly at: number;
  readonly approvalId: string;
  readonly attempt: number;
  readonly workerId: string;
  readonly argsDigest: string;
}
export type Entry = Asked | Told | Unclear | Ran;

const PROCESS = join(ROOT, 'tests/faults/ledger-process.mjs');

/** The clients' end of the ledger's process. */
export class Ledger {
  private ids = 0;
  private flushes = 0;
  private lines: string[] = [];

  private constructor(
    readonly file: string,
    private readonly process: ChildProcess,
  ) {}

  static open(file: string): Ledger {
    return new Ledger(file, fork(PROCESS, [file], { stdio: 'inherit' }));
  }

  nextId(): number {
    return (this.ids += 1);
  }

  write(entry: Entry): void {
    this.lines.push(JSON.stringify(entry));
    if (this.lines.length === 1) setImmediate(() => this.send({}));
  }

  /** Everything that was written, as the file has it. */
  async read(): Promise<readonly Entry[]> {
    const flush = (this.flushes += 1);
    const flushed = new Promise<void>((resolve, reject) => {
      const onMessage = (message: unknown) => {
        if ((message as { flushed?: number }).flushed !== flush) return;
        this.process.off('message', onMessage);
        resolve();
      };
      this.process.on('message', onMessage);
      this.process.once('exit', () => reject(new Error('The ledger has ended')));
    });
    this.send({ flush });
    await flushed;
    const text = readFileSync(this.file, 'utf8').trim();
    return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as Entry);
  }

  async close(): Promise<void> {
    this.send({});
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.disconnect();
    await ended;
  }

  private send(more: { readonly flush?: number }): void {
    const { lines } = this;
    this.lines = [];
    this.process.send({ lines, ...more });
  }
}
