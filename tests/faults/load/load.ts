import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { api } from '../../support/api.js';
import { eventually, type World } from '../../support/world.js';
import type { Ledger } from '../ledger.js';
import type { Random } from '../random.js';
import { Board, type OpenedTurn } from './board.js';
import { Client } from './client.js';
import { liveOneTurn, type Scene } from './agents.js';
import { giveOne } from './grantors.js';
import { shelve } from './shelf.js';
import { POOLS, type Focus } from './story.js';
import { POLICY } from './tools.js';
import { pullOnce, type Manners, type Worker } from './workers.js';

/** Who takes part; their tokens are facts of the log as well. */
export interface Cast {
  readonly tokens: Readonly<Record<string, string>>;
}

const PEOPLE: Readonly<Record<string, readonly string[]>> = {
  'agent-1': ['agent', 'approver'],
  'agent-2': ['agent', 'approver'],
  'ada@example.com': ['approver'],
  'bob@example.com': ['approver'],
  'cyd@example.com': ['approver'],
  // The agents act for her.
  'zoe@example.com': ['approver'],
  'oscar@example.com': ['operator'],
};
const AGENTS = ['agent-1', 'agent-2'] as const;
const APPROVERS = ['ada@example.com', 'bob@example.com', 'cyd@example.com'] as const;
const WORKERS = 4;
/** Between two grants that are given by themselves, and between two on the shelf. */
const GRANT_EVERY_MS = 1_500;

/** Everybody has a token, and the policy is published. */
export async function hire(world: World): Promise<Cast> {
  const tokens: Record<string, string> = {};
  for (const [subject, roles] of Object.entries(PEOPLE))
    tokens[subject] = (await eventually(() => world.as(subject, { roles }))).token;
  await eventually(async () => {
    const { status, body } = await world.admin().post('/v1/policies', POLICY);
    if (status !== 201) throw new Error(`The policy was not published: ${JSON.stringify(body)}`);
  });
  return { tokens: { ...tokens, admin: world.admin().token } };
}

export interface LoadOptions {
  /** Also the beginning of every conversation's id. */
  readonly name: string;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly cast: Cast;
  readonly urls: readonly string[];
  /** Turns that are lived at once. */
  readonly concurrency: number;
  /** What is to come oftener than by itself. */
  readonly focus?: LoadFocus;
}

export interface LoadFocus extends Focus {
  readonly manners?: Partial<Manners>;
}

/** Agents, approvers and workers, until they are told to finish what they began. */
export class Load {
  readonly board = new Board();
  private readonly stop = new AbortController();
  private isDraining = false;
  private begun = 0;
  private readonly agents: Promise<unknown>;
  private readonly workers: Promise<unknown>;

  private constructor(private readonly options: LoadOptions) {
    setMaxListeners(0, this.stop.signal);
    const workers = Array.from({ length: WORKERS }, (_, n) => this.workerOf(n));
    const agents = Array.from({ length: options.concurrency }, (_, n) => this.agentLoop(n, workers));
    this.agents = Promise.all([...agents, this.clerkLoop(), this.grantorLoop(), this.shelfLoop(workers)]);
    this.workers = Promise.all(workers.flatMap((worker) => POOLS.map((pool) => this.workerLoop(worker, pool))));
    for (const loops of [this.agents, this.workers]) loops.catch(() => undefined);
  }

  static start = (options: LoadOptions): Load => new Load(options);

  get turnsBegun(): number {
    return this.begun;
  }

  /** Opens nothing more, and gives what is open that long to end. What did not is stuck. */
  async drain(withinMs: number): Promise<readonly OpenedTurn[]> {
    this.isDraining = true;
    await Promise.race([this.agents, sleep(withinMs)]);
    const stuck = this.board.open();
    for (const turn of stuck) turn.ended = true;
    this.stop.abort();
    await Promise.all([this.agents, this.workers]);
    return stuck;
  }

  private async agentLoop(n: number, workers: readonly Worker[]): Promise<void> {
    const { random, name } = this.options;
    const mine = random.fork(`agent-${n}`);
    while (!this.isDraining) {
      const turn = (this.begun += 1);
      const worker = workers[turn % workers.length];
      if (worker) await liveOneTurn(this.sceneOf(name, worker), mine.fork(turn), turn);
    }
  }

  private async workerLoop(worker: Worker, pool: string): Promise<void> {
    while (!this.stop.signal.aborted) await pullOnce(worker, pool);
  }

  /** Tokens are facts as well: some are issued, some are revoked, under load. */
  private async clerkLoop(): Promise<void> {
    const admin = this.client('admin');
    for (let n = 1; !this.isDraining; n += 1) {
      const body = { name: `temporary-${n}`, subject: `temp-${n}@example.com`, roles: ['auditor'] };
      const issued = await admin.insist({ op: 'issue-token', path: '/v1/tokens', body });
      if (issued?.status === 201 && n % 2 === 0)
        await admin.insist({ op: 'revoke-token', path: `/v1/tokens/${issued.body['id']}/revoke` });
      await sleep(1_500);
    }
  }

  private async grantorLoop(): Promise<void> {
    const random = this.options.random.fork('grantors');
    const grantors = [...APPROVERS, ...AGENTS, 'zoe@example.com'].map((subject) => this.client(subject));
    for (let n = 1; !this.isDraining; n += 1) {
      await giveOne(grantors, random.fork(n));
      await sleep(GRANT_EVERY_MS);
    }
  }

  private async shelfLoop(workers: readonly Worker[]): Promise<void> {
    const random = this.options.random.fork('shelf');
    for (let n = 1; !this.isDraining; n += 1) {
      const worker = workers[n % workers.length];
      if (worker) await shelve(this.sceneOf(this.options.name, worker), random.fork(n), n);
      await sleep(GRANT_EVERY_MS);
    }
  }

  private workerOf(n: number): Worker {
    const { ledger, random, focus = {} } = this.options;
    return {
      client: this.client(AGENTS[n % AGENTS.length] ?? AGENTS[0]),
      workerId: `w-${n}`,
      board: this.board,
      ledger,
      random: random.fork(`worker-${n}`),
      draining: () => this.isDraining,
      manners: focus.manners ?? {},
    };
  }

  /** The holder takes its turn under the token that opened it. */
  private sceneOf(name: string, worker: Worker): Scene {
    return {
      name,
      board: this.board,
      requester: worker.client,
      approvers: APPROVERS.map((subject) => this.client(subject)),
      operator: this.client('oscar@example.com'),
      worker,
      draining: () => this.isDraining,
      focus: this.options.focus ?? {},
    };
  }

  private client(subject: string): Client {
    const { urls, cast, ledger } = this.options;
    const token = cast.tokens[subject];
    if (!token) throw new Error(`${subject} has no token`);
    return new Client(subject, () => urls.map((url) => api(url, token)), ledger, this.stop.signal);
  }
}
