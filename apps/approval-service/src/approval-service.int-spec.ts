import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { ClientProxyFactory, Transport, type ClientProxy, type MicroserviceOptions } from '@nestjs/microservices';
import pg from 'pg';
import { firstValueFrom } from 'rxjs';
import { digestOf } from '#contracts/canonical';
import type { Fact } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf, instant, turnKeyOf, type Tenant, type TokenId } from '#contracts/ids';
import { rpcSubject, type ApprovalCommand, type Reply } from '#contracts/rpc';
import { subjectOf, subjects } from '#contracts/subjects';
import { bootstrap } from '#event-log/bootstrap';
import { connectBroker, type Broker } from '#service/broker';
import { Callers } from '#service/callers';
import { createLogger } from '#service/logger';
import { ApprovalServiceModule } from './approval-service.module.js';

const env = (name: string): string => process.env[`HOLDPOINT_TEST_${name}`] ?? '';
const ADMIN = 'hp_admin_for_tests_only';
const NOBODY = 'postgres://nobody@127.0.0.1:1/nothing';
const nats = { natsUrl: env('NATS_URL'), natsCredsDir: env('NATS_CREDS_DIR'), natsCa: undefined };

/** Every test beside this one writes to the same log, and all of it is read first. */
const PATIENCE_MS = 120_000;

/** The service as `runService` starts it, and the two others that it meets on the broker. */
class Stage {
  private constructor(
    private readonly orchestrator: Broker,
    private readonly client: ClientProxy,
    readonly tenant: Tenant,
    readonly end: () => Promise<void>,
  ) {}

  static async start(databaseUrl: string): Promise<Stage> {
    const tenant = `t${randomUUID().slice(0, 8)}` as Tenant;
    const [own, orchestrator, gateway] = await Promise.all([
      connectBroker(nats, 'approval-service'),
      connectBroker(nats, 'orchestrator'),
      connectBroker(nats, 'gateway'),
    ]);
    const stop = new AbortController();
    const settings = {
      ...nats,
      databaseUrl,
      adminToken: ADMIN,
      host: '',
      port: 0,
      metricsPort: 0,
      dataDir: '',
      logLevel: 'silent',
      leaseSeconds: 60,
      rateLimit: 0,
    };
    const service = {
      broker: own,
      settings,
      callers: new Callers(own.events, ADMIN),
      logger: createLogger(settings, 'test'),
      stopping: stop.signal,
    };
    const app = await NestFactory.createMicroservice<MicroserviceOptions>(ApprovalServiceModule.with(service), {
      transport: Transport.NATS,
      options: { ...own.natsOptions, queue: `test-${tenant}` },
      logger: false,
    });
    await app.listen();
    const client = ClientProxyFactory.create({ transport: Transport.NATS, options: gateway.natsOptions });
    return new Stage(orchestrator, client, tenant, async () => {
      stop.abort();
      await client.close();
      await app.close();
      await Promise.all([own, orchestrator, gateway].map((broker) => broker.close()));
    });
  }

  ask<Value>(command: ApprovalCommand, body: object, token = ADMIN): Promise<Reply<Value>> {
    const ask = { token, tenant: this.tenant, body };
    return firstValueFrom(this.client.send<Reply<Value>>(rpcSubject['approval-service'](command), ask));
  }

  async tell(event: HoldpointEvent): Promise<void> {
    const { tenant } = this;
    const actor = { kind: 'agent', id: 'demo-agent', via: 'test' } as const;
    const who = { actor, causationId: 'test', correlationId: 'test' };
    const fact: Fact<HoldpointEvent> = {
      tenant,
      subject: subjectOf(tenant, event),
      event,
      eventId: randomUUID(),
      occurredAt: instant(Date.now()),
      ...who,
    };
    expect(await this.orchestrator.events.append(fact)).toMatchObject({ is: 'stored' });
  }

  async opens(turnId: string, expiresInSeconds?: number) {
    const turnKey = turnKeyOf(this.tenant, 'conv', turnId);
    const expires = expiresInSeconds === undefined ? {} : { expiresInSeconds };
    const call = { toolCallId: 'call_1', toolName: 'pay', args: {}, argsDigest: digestOf({}) };
    const turn = {
      turnKey,
      conversationId: 'conv',
      turnId,
      agent: { id: 'a' },
      release: 'all',
      pool: 'default',
      toolCalls: [call],
    } as const;
    const data = { ...turn, toolCalls: [call], digest: digestOf({}), tokenId: 'admin' as TokenId, ...expires };
    await this.tell({ type: 'ToolApprovalRequested', data });
    return { turnKey, approvalId: approvalIdOf(turnKey, 0) };
  }

  async decisionOn(approvalId: ReturnType<typeof approvalIdOf>) {
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await sleep(50)) {
      const fact = await this.orchestrator.events.last(subjects.decision(this.tenant, approvalId));
      if (fact) return fact;
    }
    return undefined;
  }
}

beforeAll(() => bootstrap({ url: nats.natsUrl, seedFile: join(nats.natsCredsDir, 'bootstrap.nk'), replicas: 1 }));

describe('the approval-service with Postgres down', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.start(NOBODY);
  });
  afterAll(() => stage.end());

  it('is healthy, issues tokens and decides', async () => {
    expect(await stage.ask('Health', {}, '')).toEqual({ ok: true, value: { ok: true } });
    const made = await stage.ask<{ token: string }>('IssueToken', {
      name: 'ada',
      subject: 'ada@example.com',
      roles: ['approver'],
    });
    const token = made.ok ? made.value.token : '';
    const { approvalId } = await stage.opens('t-1');
    const approve = { approvalId, decision: 'approve' };
    expect(await stage.ask('DecideApproval', approve, token)).toMatchObject({ value: { verdict: 'counted' } });
    expect(await stage.ask('DecideApproval', approve, token)).toMatchObject({ value: { verdict: 'duplicate' } });
    const late = await stage.ask('DecideApproval', { approvalId, decision: 'deny' });
    expect(late).toMatchObject({
      ok: false,
      refusal: { reason: 'superseded', winner: { decision: 'approved', by: 'ada@example.com' } },
    });
    expect(await stage.ask('RevokeApproval', { approvalId, reason: 'r' }, token)).toMatchObject({
      value: { recorded: true },
    });
  });

  it('closes the approvals of a turn that ends', async () => {
    const { turnKey, approvalId } = await stage.opens('t-2');
    await stage.tell({
      type: 'TurnEnded',
      data: { turnKey, turnId: 't-2', status: 'cancelled', reason: 'not needed' },
    });
    expect(await stage.decisionOn(approvalId)).toMatchObject({
      event: { data: { decision: 'cancelled', reason: 'not needed' } },
    });
  });

  it('says that parked events cannot be reached', async () => {
    expect(await stage.ask('UnparkApproval', { approvalId: 'ap_x' })).toMatchObject({
      refusal: { reason: 'unavailable' },
    });
  });
});

describe('the approval-service with Postgres', () => {
  let stage: Stage;
  beforeAll(async () => {
    const name = `approvals_${randomUUID().slice(0, 8)}`;
    const admin = new pg.Client({ connectionString: env('DATABASE_URL') });
    await admin.connect();
    await admin.query(`CREATE DATABASE ${name}`);
    await admin.end();
    const url = new URL(env('DATABASE_URL'));
    url.pathname = `/${name}`;
    stage = await Stage.start(url.href);
  });
  afterAll(() => stage.end());

  it('lets what nobody decides expire', async () => {
    const { approvalId } = await stage.opens('t-1', 1);
    const decision = await stage.decisionOn(approvalId);
    expect(decision).toMatchObject({
      actor: { kind: 'timer', via: 'sweep:expiry' },
      event: { data: { decision: 'expired' } },
    });
    expect(await stage.ask('DecideApproval', { approvalId, decision: 'approve' })).toMatchObject({
      refusal: { reason: 'late' },
    });
  });
});
