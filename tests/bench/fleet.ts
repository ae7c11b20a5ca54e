import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '../support/api.js';
import type { World } from '../support/world.js';
import { POOLS_A_TENANT } from './lives.js';

export interface Person {
  readonly tenant: string;
  readonly agent: Api;
  readonly approver: Api;
}

/** An agent and an approver in each tenant. */
export async function peopleOf(world: World, tenants: number): Promise<Person[]> {
  const people: Person[] = [];
  for (let index = 0; index < tenants; index++) {
    const tenant = `tenant-${index}`;
    const agent = await world.as(`agent-${index}`, { roles: ['agent'] }, tenant);
    const approver = await world.as(`ada-${index}@example.com`, { roles: ['approver'] }, tenant);
    people.push({ tenant, agent, approver });
  }
  return people;
}

const WAIT_SECONDS = 55;
const poolOf = (index: number, tenants: number): string => `pool-${Math.floor(index / tenants) % POOLS_A_TENANT}`;

/** Workers that wait for continuations and carry out what they are given, until stopped. */
export class Fleet {
  done = 0;
  readonly problems: string[] = [];
  private started = 0;
  private readonly waiting = new Set<AbortController>();
  private isStopping = false;

  constructor(private readonly people: readonly Person[]) {}

  grow(upTo: number): void {
    for (; this.started < upTo; this.started++) void this.work(this.started);
  }

  stop(): void {
    this.isStopping = true;
    for (const pull of this.waiting) pull.abort();
  }

  private async work(index: number): Promise<void> {
    const person = this.people[index % this.people.length];
    if (!person) throw new Error('There are no people');
    const pool = poolOf(index, this.people.length);
    while (!this.isStopping)
      await this.workOnce(person.agent, { workerId: `worker-${index}`, pool }).catch(async (error: unknown) => {
        if (this.isStopping) return;
        this.problems.push(String(error));
        await sleep(1_000);
      });
  }

  private async workOnce(agent: Api, { workerId, pool }: { workerId: string; pool: string }): Promise<void> {
    for (const item of await this.pull(agent, workerId, pool)) await this.carryOut(agent, workerId, item);
  }

  private async pull(agent: Api, workerId: string, pool: string): Promise<Record<string, any>[]> {
    const stop = new AbortController();
    this.waiting.add(stop);
    const body = JSON.stringify({ workerId, max: 1, waitSeconds: WAIT_SECONDS });
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body, signal: stop.signal };
    const answer = await agent
      .raw(`/v1/pools/${pool}/continuations/pull`, request)
      .finally(() => this.waiting.delete(stop));
    if (answer.status !== 200) throw new Error(`pull: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body['items'];
  }

  private async carryOut(agent: Api, workerId: string, item: Record<string, any>): Promise<void> {
    const resumed = await agent.post(`/v1/continuations/${item['leaseId']}/resume`, { workerId });
    if (resumed.status === 409) return;
    const { attempt } = resumed.body;
    for (const { approvalId, argsDigest } of item['results']) {
      await must(agent, `/v1/approvals/${approvalId}/use`, { workerId, attempt, argsDigest });
      await must(agent, `/v1/approvals/${approvalId}/outcome`, { workerId, attempt, ok: true, result: { sent: true } });
    }
    const { conversationId, turnId } = item;
    await must(agent, `/v1/turns/${turnId}/end`, { conversationId, attempt, status: 'completed' });
    this.done += 1;
  }
}

/** Opens a turn of one call and decides it. */
export async function openAndApprove({ agent, approver }: Person, turn: number, args: object): Promise<void> {
  const opened = await must(agent, '/v1/turns', {
    conversationId: `conversation-${turn}`,
    turnId: `turn-${turn}`,
    agent: { id: 'billing-agent' },
    pool: `pool-${turn % POOLS_A_TENANT}`,
    toolCalls: [{ toolCallId: 'call_1', toolName: 'send_email', server: 'gmail', args }],
  });
  const [approval] = opened['approvals'];
  await must(approver, `/v1/approvals/${approval.approvalId}/decision`, { decision: 'approve' });
}

async function must(by: Api, path: string, body: object): Promise<Record<string, any>> {
  const answer = await by.post(path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
