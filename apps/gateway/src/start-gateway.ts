import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import { background } from '#service/background';
import type { Service } from '#service/run-service';
import { PoliciesInForce } from '#policy/in-force';
import { ReadApprovals } from './approvals/read-approvals.js';
import { Offers } from './continuations/offers.js';
import { Deciders } from './deciders/deciders.js';
import { GatewayModule, type Parts } from './gateway.module.js';
import { Grants } from './grants/grants.js';
import { Health } from './health/health.js';
import { openDoor, type OpenDoor } from './http/open-door.js';
import { approvalsChangedSince } from './lists/changes.query.js';
import { ReadModel } from './lists/read-model.js';
import { ApprovalFeed } from './live/approval-feed.js';
import { CatchUps } from './live/catch-ups.js';
import { Changes } from './live/changes.js';
import { ToldTurns } from './live/told-turns.js';
import { loopsOf, reportTo, type Report } from './loops.js';
import { Lists } from './operations/lists.js';
import { ReadTaken } from './turns/read-taken.js';
import { ReadTurns } from './turns/read-turns.js';

const CHANGES_AT_ONCE = 500;

/** Puts the gateway together, begins its loops and opens its door. */
export async function startGateway(service: Service): Promise<OpenDoor> {
  const client = ClientProxyFactory.create({ transport: Transport.NATS, options: service.broker.natsOptions });
  const readModel = new ReadModel(service.settings.databaseUrl);
  const parts = partsOf(service, new Deciders(client, service.logger), readModel);
  parts.streams.feed.start(service.stopping);
  const loops = background(service, loopsOf(service, parts, readModel));
  const door = await openDoor(service, GatewayModule.of(parts, [loops]));
  const close = async () => {
    await door.close();
    await Promise.all([client.close(), readModel.close()]);
  };
  return { url: door.url, close };
}

function partsOf(service: Service, deciders: Deciders, readModel: ReadModel): Parts {
  const { broker, callers, stopping } = service;
  const report = reportTo(service.logger);
  const changes = new Changes(broker.events, report);
  const turns = new ReadTurns(broker.events, broker.clock, changes);
  const policies = new PoliciesInForce(broker.events);
  const offers = new Offers({ ...broker, policies, heardOf: turns.heardOf, report, stopping });
  const lists = new Lists(readModel, turns);
  broker.onReconnect(() => changes.recent.forget());
  changes.onRevoked((tokenId) => callers.forget(tokenId));
  const told = { log: broker.events, changes, turns: new ToldTurns(broker.events), catchUps: new CatchUps(), report };
  return {
    callers,
    deciders,
    turns,
    approvals: new ReadApprovals(turns, policies),
    taken: new ReadTaken(turns, policies),
    lists,
    grants: new Grants(turns, policies, lists),
    offers,
    due: { offers, policies, commands: broker.commands, clock: broker.clock },
    changes,
    streams: { ...told, feed: feedOf({ readModel, lists, turns, report }) },
    health: new Health(broker, deciders),
  };
}

interface Feeding {
  readonly readModel: ReadModel;
  readonly lists: Lists;
  readonly turns: ReadTurns;
  readonly report: Report;
}

const feedOf = ({ readModel, lists, turns, report }: Feeding): ApprovalFeed =>
  new ApprovalFeed(
    {
      projectedSeq: readModel.projectedSeq,
      onProjected: readModel.onProjected,
      changedSince: (after, tenant) =>
        approvalsChangedSince(readModel, { after, tenant, now: turns.now(), limit: CHANGES_AT_ONCE }),
      stats: (tenant) => lists.stats({ tenant }, {}),
    },
    report,
  );
