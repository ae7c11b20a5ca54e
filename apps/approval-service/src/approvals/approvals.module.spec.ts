import 'reflect-metadata';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TokenId } from '#contracts/ids';
import type { Ask } from '#contracts/rpc';
import { subjects } from '#contracts/subjects';
import { ROLES, type Role } from '#contracts/tokens/events';
import { DURABLES } from '#event-log/durables';
import { MemoryLog } from '#event-log/memory-log';
import { Callers, sha256 } from '#service/callers';
import { createLogger } from '#service/logger';
import { ApprovalsController } from './approvals.controller.js';
import { ApprovalsModule } from './approvals.module.js';
import {
  after,
  CALL,
  DIGEST,
  ended,
  recordedAt,
  requested,
  TENANT,
  TURN_KEY,
  type Told,
} from './domain/stories-for-spec.js';

const ADMIN = 'the-admin-token';
const running: INestApplicationContext[] = [];
afterEach(() => Promise.all(running.splice(0).map((app) => app.close())));

const TOKEN_ID = `tk_${'a'.repeat(26)}` as TokenId;
const SECRET = 's'.repeat(43);
const TOKEN = `hp_${TOKEN_ID}_${SECRET}`;
const tokenOf = (role: Role): Told => ({
  event: {
    type: 'TokenIssued',
    data: { tokenId: TOKEN_ID, secretHash: sha256(SECRET), name: 't', subject: 'eve', roles: [role] },
  },
  by: 'admin',
  kind: 'person',
  at: after(0),
});

async function start(...facts: readonly Told[]) {
  const log = new MemoryLog(DURABLES);
  for (const fact of facts) await log.append(recordedAt(fact, 0));
  const service = {
    broker: { events: log, clock: () => Date.parse(after(100)) },
    callers: new Callers(log, ADMIN),
    logger: createLogger({ logLevel: 'silent' }, 'test'),
    stopping: new AbortController().signal,
  };
  const readModel = {
    precedents: () => Promise.resolve({ grants: [] }),
    due: { dueBy: () => Promise.reject(new Error('no Postgres')) },
    unpark: (_: string, id: string) => Promise.resolve({ applied: id === CALL ? 1 : 0, seq: 7 }),
  };
  const app = await NestFactory.createApplicationContext(ApprovalsModule.with(service, readModel), { logger: false });
  await app.init();
  running.push(app);
  return { log, controller: app.get(ApprovalsController) };
}

const ask = (body: object, token = ADMIN): Ask => ({ token, body });

describe('the approvals of a service, with the read model away', () => {
  it('are decided', async () => {
    const { controller } = await start(requested());
    const answer = await controller.decide(ask({ approvalId: CALL, decision: 'approve' }));
    expect(answer).toEqual({ ok: true, value: { verdict: 'counted', seq: 2 } });
  });

  it('are closed when their turn ends', async () => {
    const { log } = await start(requested(), ended());
    for (let n = 0; n < 100 && !(await log.last(subjects.decision(TENANT, CALL))); n += 1) await sleep(10);
    expect((await log.last(subjects.decision(TENANT, CALL)))?.event.data).toMatchObject({ decision: 'cancelled' });
  });

  it('say that they can be decided', async () => {
    expect(await (await start()).controller.health()).toEqual({ ok: true, value: { ok: true } });
  });

  it.each(['decide', 'withdraw', 'revoke', 'use', 'close', 'unpark'] as const)(
    '%s needs a good token',
    async (name) => {
      const { controller } = await start(requested());
      const answer = await controller[name](ask({ approvalId: CALL }, 'wrong'));
      expect(answer).toMatchObject({ ok: false, refusal: { reason: 'unauthenticated' } });
    },
  );

  it.each(['decide', 'withdraw', 'revoke', 'use', 'close', 'unpark'] as const)(
    '%s takes no unknown field',
    async (name) => {
      const { controller } = await start(requested());
      const answer = await controller[name](ask({ approvalId: CALL, turnKey: TURN_KEY, by: 'me' }));
      expect(answer).toMatchObject({ ok: false, refusal: { reason: 'invalid-input' } });
    },
  );

  it.each(ROLES)('a token with the role %s alone may do what the contract says', async (role) => {
    const { controller } = await start(requested(), tokenOf(role));
    const bodies = {
      decide: { approvalId: CALL, decision: 'deny' },
      withdraw: { approvalId: CALL },
      revoke: { approvalId: CALL, reason: 'r' },
      use: { approvalId: CALL, workerId: 'w', attempt: 1, argsDigest: DIGEST },
      close: { turnKey: TURN_KEY },
      unpark: { approvalId: CALL },
    };
    const may: string[] = [];
    for (const name of Object.keys(bodies) as (keyof typeof bodies)[]) {
      const answer = await controller[name](ask(bodies[name], TOKEN));
      if (answer.ok || answer.refusal.reason !== 'forbidden') may.push(name);
    }
    const wanted = { agent: ['use'], approver: ['decide', 'withdraw', 'revoke'], operator: ['unpark'], auditor: [] };
    const own = role === 'admin' ? Object.keys(bodies).filter((name) => name !== 'close') : wanted[role];
    expect(may.sort()).toEqual([...own, 'close'].sort());
  });

  it('unpark asks the read model, and says where nothing is parked', async () => {
    const { controller } = await start();
    expect(await controller.unpark(ask({ approvalId: CALL }))).toEqual({ ok: true, value: { seq: 7, recorded: true } });
    expect(await controller.unpark(ask({ approvalId: 'ap_x' }))).toMatchObject({ refusal: { reason: 'not-found' } });
  });

  it('has nothing to withdraw, nothing to take back and nothing to use before a decision', async () => {
    const { controller } = await start(requested());
    const use = { approvalId: CALL, workerId: 'w', attempt: 1, argsDigest: `sha256:${'0'.repeat(64)}` };
    expect(await controller.withdraw(ask({ approvalId: CALL }))).toMatchObject({ refusal: { reason: 'not-found' } });
    expect(await controller.revoke(ask({ approvalId: CALL, reason: 'r' }))).toMatchObject({
      refusal: { reason: 'not-ready' },
    });
    expect(await controller.use(ask(use))).toMatchObject({ refusal: { reason: 'not-ready' } });
    expect(await controller.close(ask({ turnKey: TURN_KEY }))).toMatchObject({ refusal: { reason: 'not-ready' } });
  });
});
