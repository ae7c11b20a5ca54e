import 'reflect-metadata';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ContinuationCommand } from '#contracts/continuations/events';
import { turnKeyOf, type Tenant, type TokenId } from '#contracts/ids';
import type { Ask } from '#contracts/rpc';
import { subjects } from '#contracts/subjects';
import { ROLES, type Role, type TokenIssued } from '#contracts/tokens/events';
import { DURABLES } from '#event-log/durables';
import { MemoryLog } from '#event-log/memory-log';
import { readStory, readTurn } from '#fold/read';
import { Callers, sha256 } from '#service/callers';
import { createLogger } from '#service/logger';
import {
  allDecided,
  at,
  CALLS,
  recordedAt,
  requested,
  resumed,
  TENANT,
  told,
  TURN,
  used,
} from './domain/stories-for-spec.js';
import { TurnsController } from './turns.controller.js';
import { TurnsModule } from './turns.module.js';
import type { Told } from './domain/stories-for-spec.js';

const ADMIN = 'the-admin-token';
const TOKEN_ID = `tk_${'a'.repeat(26)}` as TokenId;
const SECRET = 's'.repeat(43);
const TOKEN = `hp_${TOKEN_ID}_${SECRET}`;
const issued = (role: Role, more: Partial<TokenIssued> = {}): Told =>
  told(
    {
      type: 'TokenIssued',
      data: { tokenId: TOKEN_ID, secretHash: sha256(SECRET), name: 't', subject: 'eve', roles: [role], ...more },
    },
    0,
  );

const running: INestApplicationContext[] = [];
afterEach(() => Promise.all(running.splice(0).map((app) => app.close())));

async function start(...facts: readonly Told[]) {
  const log = new MemoryLog(DURABLES);
  for (const [n, fact] of facts.entries()) await log.append(recordedAt(fact, n));
  const pools: string[] = [];
  const service = {
    broker: {
      events: log,
      commands: new MemoryLog<ContinuationCommand>(),
      clock: () => Date.parse(at(100)),
      preparePool: (tenant: Tenant, pool: string) => Promise.resolve(void pools.push(`${tenant}/${pool}`)),
    },
    settings: { leaseSeconds: 60 },
    callers: new Callers(log, ADMIN),
    logger: createLogger({ logLevel: 'silent' }, 'test'),
    stopping: new AbortController().signal,
  };
  const app = await NestFactory.createApplicationContext(TurnsModule.with(service), { logger: false });
  await app.init();
  running.push(app);
  return { log, pools, controller: app.get(TurnsController) };
}

const ask = (body: object, token = ADMIN, more: Partial<Ask> = {}): Ask => ({ token, body, ...more });
const asHolder = { key: TURN, workerId: 'w-1', asHolder: true };
const call = { toolCallId: 'c0', toolName: 'pay', args: { amount: 1 } };
const turn = { conversationId: 'conv', agent: { id: 'billing' }, toolCalls: [call] };
const held = requested({ holder: { workerId: 'w-1', graceSeconds: 10 }, tokenId: TOKEN_ID });

describe('a turn is opened', () => {
  it('and is the same when it is sent again', async () => {
    const { controller, log } = await start();
    const body = { ...turn, turnId: 't-1' };
    expect(await controller.open(ask(body))).toEqual({ ok: true, value: { turnId: 't-1', created: true, seq: 1 } });
    expect(await controller.open(ask(body))).toEqual({ ok: true, value: { turnId: 't-1', created: false, seq: 1 } });
    expect(await log.state()).toMatchObject({ lastSeq: 1 });
  });

  it('once of twenty at the same moment', async () => {
    const { controller } = await start();
    const all = await Promise.all(Array.from({ length: 20 }, () => controller.open(ask({ ...turn, turnId: 't-1' }))));
    expect(all.filter((one) => one.ok && one.value.created)).toHaveLength(1);
    expect(all.every((one) => one.ok && one.value.seq === 1)).toBe(true);
  });

  it('under an id of its own each time', async () => {
    const { controller } = await start();
    const [one, other] = [await controller.open(ask(turn)), await controller.open(ask(turn))];
    expect(one).toMatchObject({
      ok: true,
      value: { turnId: expect.stringMatching(/^t_[a-z2-7]{26}$/), created: true },
    });
    expect(other).toMatchObject({ ok: true, value: { created: true, seq: 2 } });
  });

  it('under the id that follows from the Idempotency-Key, the tenant and the caller', async () => {
    const { controller } = await start(issued('agent'));
    const keyed = (key: string, token = ADMIN, tenant = 'default') =>
      controller.open(ask(turn, token, { idempotencyKey: key, tenant }));
    const first = await keyed('k');
    expect(await keyed('k')).toEqual(first);
    const all = [first, await keyed('k2'), await keyed('k', TOKEN), await keyed('k', ADMIN, 'other')];
    expect(new Set(all.map((one) => one.ok && one.value.turnId)).size).toBe(4);
  });

  it('not under one Idempotency-Key with another body', async () => {
    const { controller } = await start();
    await controller.open(ask(turn, ADMIN, { idempotencyKey: 'k' }));
    expect(await controller.open(ask({ ...turn, pool: 'other' }, ADMIN, { idempotencyKey: 'k' }))).toMatchObject({
      ok: false,
      refusal: { reason: 'conflict' },
    });
  });

  it('with its actor and correlation', async () => {
    const { controller, log } = await start(issued('agent'));
    await controller.open(ask({ ...turn, turnId: 't-1' }, TOKEN));
    expect(await log.last(subjects.request(TENANT, TURN))).toMatchObject({
      actor: { kind: 'agent', id: 'eve', via: `token:${TOKEN_ID}` },
      correlationId: 'conv',
    });
  });
});

describe('the subscription of a pool', () => {
  it('is there when a turn of it was opened, and where it was opened before', async () => {
    const { controller, pools } = await start();
    await controller.open(ask({ ...turn, turnId: 't-1' }));
    await controller.open(ask({ ...turn, turnId: 't-1' }));
    await controller.open(ask({ ...turn, turnId: 't-2', pool: 'gpu' }, ADMIN, { tenant: 'other' }));
    expect(pools).toEqual(['default/default', 'default/default', 'other/gpu']);
  });

  it('is made when a worker asks', async () => {
    const { controller, pools } = await start(issued('agent', { pools: ['gpu'] }));
    expect(await controller.preparePool(ask({ pool: 'gpu' }, TOKEN))).toEqual({ ok: true, value: { ok: true } });
    expect(pools).toEqual(['default/gpu']);
  });

  it('is not made for a token of other pools, nor by a turn that is refused', async () => {
    const { controller, pools } = await start(issued('agent', { pools: ['gpu'] }));
    const forbidden = { ok: false, refusal: { reason: 'forbidden' } };
    expect(await controller.preparePool(ask({ pool: 'x' }, TOKEN))).toMatchObject(forbidden);
    expect(await controller.open(ask({ ...turn, pool: 'x' }, TOKEN))).toMatchObject(forbidden);
    expect(pools).toEqual([]);
  });
});

describe('a turn that is superseded', () => {
  const next = { ...turn, turnId: 't-2', supersedes: 't-1' };
  const endOf = async (log: MemoryLog) => {
    for (let n = 0; n < 100 && !(await log.last(subjects.end(TENANT, TURN))); n += 1) await sleep(10);
    return log.last(subjects.end(TENANT, TURN));
  };

  it('is cancelled by what follows', async () => {
    const { controller, log } = await start(requested());
    await controller.open(ask(next));
    const opened = await log.last(subjects.request(TENANT, turnKeyOf(TENANT, 'conv', 't-2')));
    expect(await endOf(log)).toMatchObject({
      actor: { kind: 'service', id: 'orchestrator' },
      causationId: opened?.eventId,
      correlationId: 'conv',
      event: { data: { status: 'cancelled', supersededBy: 't-2', turnId: 't-1' } },
    });
  });
});

describe('a turn goes from hand to hand', () => {
  it('taken, extended, given back, taken, reported and ended', async () => {
    const { controller, log } = await start(issued('agent'), held, ...allDecided);
    const taken = await controller.resume(ask(asHolder, TOKEN));
    expect(taken).toEqual({ ok: true, value: { attempt: 1, leaseUntil: at(160), seq: 6 } });
    const mine = { key: TURN, workerId: 'w-1', attempt: 1 };
    expect(await controller.extend(ask(mine, TOKEN))).toEqual({
      ok: true,
      value: { attempt: 1, leaseUntil: at(160), seq: 7 },
    });
    expect(await controller.giveBack(ask(mine, TOKEN))).toEqual({ ok: true, value: { seq: 8, recorded: true } });
    expect(await controller.giveBack(ask(mine, TOKEN))).toEqual({ ok: true, value: { seq: 8, recorded: false } });
    expect(await controller.resume(ask(asHolder, TOKEN))).toMatchObject({ value: { attempt: 2 } });
    await log.append(recordedAt(used(0, { attempt: 2, tokenId: TOKEN_ID }), 9));
    const outcome = { approvalId: CALLS[0], workerId: 'w-1', attempt: 2, ok: true, result: 7 };
    expect(await controller.report(ask(outcome, TOKEN))).toMatchObject({ value: { recorded: true } });
    const end = { turnKey: TURN, attempt: 2, status: 'completed' };
    expect(await controller.end(ask(end, TOKEN))).toMatchObject({ value: { recorded: true } });
    expect(await controller.cancel(ask({ turnKey: TURN }, TOKEN))).toMatchObject({ refusal: { reason: 'turn-ended' } });
    expect(await readTurn(log, TENANT, TURN)).toMatchObject({ state: 'ended', end: { status: 'completed' } });
  });

  it('is settled by a person', async () => {
    const { controller, log } = await start(issued('operator'), requested(), ...allDecided, resumed(), used(0));
    const body = { approvalId: CALLS[0], ok: false, error: 'lost', reason: 'looked it up' };
    expect(await controller.settle(ask(body, TOKEN))).toMatchObject({ value: { recorded: true } });
    expect(await log.last(subjects.outcome(TENANT, CALLS[0]))).toMatchObject({ actor: { kind: 'person', id: 'eve' } });
  });
});

const bodies = {
  open: turn,
  resume: asHolder,
  extend: { key: TURN, workerId: 'w-1', attempt: 1 },
  giveBack: { key: TURN, workerId: 'w-1', attempt: 1 },
  report: { approvalId: CALLS[0], workerId: 'w-1', attempt: 1, ok: true },
  settle: { approvalId: CALLS[0], ok: true, reason: 'r' },
  end: { turnKey: TURN, attempt: 1, status: 'completed' },
  cancel: { turnKey: TURN },
  preparePool: { pool: 'default' },
};
const names = Object.keys(bodies) as (keyof typeof bodies)[];

describe('the door of the turns', () => {
  it('says that it can be asked', async () => {
    expect(await (await start()).controller.health()).toEqual({ ok: true, value: { ok: true } });
  });

  it.each(names)('%s needs a good token', async (name) => {
    const { controller, log } = await start();
    expect(await controller[name](ask(bodies[name], 'wrong'))).toMatchObject({
      refusal: { reason: 'unauthenticated' },
    });
    expect(await log.state()).toMatchObject({ lastSeq: 0 });
  });

  it.each(names)('%s takes no unknown field', async (name) => {
    const { controller } = await start();
    expect(await controller[name](ask({ ...bodies[name], by: 'me' }))).toMatchObject({
      refusal: { reason: 'invalid-input', errors: [{ path: 'by' }] },
    });
  });

  it.each(ROLES)('a token with the role %s alone may do what the contract says', async (role) => {
    const { controller } = await start(issued(role), requested(), ...allDecided);
    const may: string[] = [];
    for (const name of names) {
      const answer = await controller[name](ask(bodies[name], TOKEN));
      const atDoor = !answer.ok && answer.refusal.detail.startsWith('This needs the role');
      if (!atDoor) may.push(name);
    }
    const agents = names.filter((name) => name !== 'settle');
    const wanted = { agent: agents, approver: [], operator: ['settle'], auditor: [], admin: names };
    expect(may).toEqual(wanted[role]);
  });

  it('what is of one tenant is nothing to another', async () => {
    const { controller, log } = await start(requested(), ...allDecided, resumed(), used(0));
    const told = await readStory(log, 'hp.v1.>');
    for (const name of names.filter((each) => each !== 'open' && each !== 'preparePool'))
      expect(await controller[name](ask(bodies[name], ADMIN, { tenant: 'other' }))).toMatchObject({
        refusal: { reason: 'not-found' },
      });
    expect(await readStory(log, 'hp.v1.>')).toEqual(told);
  });
});
