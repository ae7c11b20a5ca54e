import { describe, expect, it } from '@jest/globals';
import { scaleOf, type Limits, type Load, type Question, type UnitCosts } from './scale-model.js';

/** Round figures, so that each answer can be worked out by hand. */
const costs: UnitCosts = {
  eventsAnApproval: 5,
  commandsAnApproval: 1,
  brokerBaseBytes: 1_000,
  brokerBytesASubject: 100,
  brokerBytesAPool: 10,
  brokerStartSecondsAMillionSubjects: 2,
  logBytesAnApproval: 1_000,
  databaseRowsAnApproval: 8,
  databaseBytesAnApproval: 4_000,
  gatewayBaseBytes: 0,
  gatewayBytesAWaitingWorker: 10,
  gatewayBytesAStream: 20,
  cpuSecondsAnApproval: {
    gateway: 0.01,
    orchestrator: 0.002,
    'approval-service': 0.004,
    broker: 0.003,
    postgres: 0.001,
  },
};
const load: Load = {
  tenants: 10,
  poolsATenant: 10,
  waitingWorkers: 100,
  openStreams: 50,
  approvalsAYear: 31_536_000,
  peakFactor: 10,
  replicas: 3,
};
const limits: Limits = {
  appendsASecond: 600,
  projectedASecond: 5_000,
  brokerMemoryBytes: 1_000_002_000,
  brokerStartSeconds: 1_000,
  gatewayHeapBytes: 1_000,
  socketsAGateway: 60,
  busyShare: 0.5,
};
const asked = (more: { [Part in keyof Question]?: Partial<Question[Part]> } = {}) =>
  scaleOf({
    costs: { ...costs, ...more.costs },
    load: { ...load, ...more.load },
    limits: { ...limits, ...more.limits },
  });

describe('a year', () => {
  it.each([
    ['events', 157_680_000],
    ['commands', 31_536_000],
    ['subjects', 189_216_000],
    ['logBytes', 94_608_000_000],
    ['databaseRows', 252_288_000],
    ['databaseBytes', 126_144_000_000],
  ] as const)('has %s by the approval', (what, expected) => expect(asked().year[what]).toBeCloseTo(expected));

  it('is twice as much with twice the approvals, except for what waits', () => {
    const twice = asked({ load: { approvalsAYear: 2 * load.approvalsAYear } });
    expect(twice.year.subjects).toBe(2 * asked().year.subjects);
    expect(twice.instances.gatewaySockets).toBe(asked().instances.gatewaySockets);
  });
});

describe('the peak', () => {
  it('is the mean times the factor', () =>
    expect(asked().peak).toEqual({ approvalsASecond: 10, appendsASecond: 60, eventsASecond: 50 }));
});

describe('an epoch', () => {
  it('ends where its subjects fill the memory that pools leave', () =>
    expect(asked().epoch).toMatchObject({ endsBy: 'memory', subjects: 10_000_000, bytesAtItsEnd: 1_000_002_000 }));
  it('ends before, where starting on them would take too long', () =>
    expect(asked({ limits: { brokerStartSeconds: 6 } }).epoch).toMatchObject({
      endsBy: 'start',
      subjects: 3_000_000,
      startSecondsAtItsEnd: 6,
    }));
  it('lasts as long as its subjects take to come', () => expect(asked().epoch.days).toBeCloseTo(19.29, 2));
  it('cannot be, where the pools alone fill the memory', () =>
    expect(asked({ limits: { brokerMemoryBytes: 500 } }).epoch.subjects).toBe(0));
});

describe('how many of each', () => {
  it.each([
    ['processor time', {}, { cpu: 1, heap: 2, sockets: 3 }, 3],
    ['sockets', { limits: { socketsAGateway: 10 } }, { cpu: 1, heap: 2, sockets: 15 }, 15],
    ['heap', { limits: { gatewayHeapBytes: 100 } }, { cpu: 1, heap: 20, sockets: 3 }, 20],
    ['more at the peak', { load: { peakFactor: 200 } }, { cpu: 4, heap: 2, sockets: 3 }, 4],
  ] as const)('gateways: by %s, whichever asks for most', (_, more, gatewayNeeds, gateways) =>
    expect(asked(more).instances).toMatchObject({ gatewayNeeds, gateways }),
  );
  it('at least one of each, however little there is to do', () =>
    expect(asked({ load: { approvalsAYear: 1, waitingWorkers: 0, openStreams: 0 } }).instances).toMatchObject({
      gateways: 1,
      orchestrators: 1,
      approvalServices: 1,
    }));
});

describe('what breaks first', () => {
  it.each([
    ['broker memory, a year without a roll', {}],
    ['appends', { limits: { appendsASecond: 1 } }],
    ['the one projector', { limits: { projectedASecond: 1 } }],
    ['the broker on one core', { limits: { busyShare: 0.0001 } }],
  ] as const)('%s', (what, more) => expect(asked(more).breaksFirst).toBe(what));
});
