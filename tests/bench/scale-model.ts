const SECONDS_A_YEAR = 365 * 86_400;
const DAYS_A_YEAR = 365;
const MILLION = 1_000_000;

/** What was measured of one of each (`npm run bench -- unit-costs`, `scale`). */
export interface UnitCosts {
  readonly eventsAnApproval: number;
  readonly commandsAnApproval: number;
  readonly brokerBaseBytes: number;
  readonly brokerBytesASubject: number;
  readonly brokerBytesAPool: number;
  readonly brokerStartSecondsAMillionSubjects: number;
  readonly logBytesAnApproval: number;
  readonly databaseRowsAnApproval: number;
  readonly databaseBytesAnApproval: number;
  readonly gatewayBaseBytes: number;
  readonly gatewayBytesAWaitingWorker: number;
  readonly gatewayBytesAStream: number;
  /** Seconds of one core. */
  readonly cpuSecondsAnApproval: Readonly<Record<Service, number>>;
}
export type Service = 'gateway' | 'orchestrator' | 'approval-service' | 'broker' | 'postgres';

export interface Load {
  readonly tenants: number;
  readonly poolsATenant: number;
  readonly waitingWorkers: number;
  readonly openStreams: number;
  readonly approvalsAYear: number;
  /** The busiest minute against the mean of the year. */
  readonly peakFactor: number;
  readonly replicas: number;
}

/** What one machine is allowed to be asked. */
export interface Limits {
  /** Guarded appends a second that the broker gives, durable. */
  readonly appendsASecond: number;
  readonly projectedASecond: number;
  readonly brokerMemoryBytes: number;
  readonly brokerStartSeconds: number;
  readonly gatewayHeapBytes: number;
  readonly socketsAGateway: number;
  /** Of a core, at the peak. */
  readonly busyShare: number;
}

export interface Question {
  readonly costs: UnitCosts;
  readonly load: Load;
  readonly limits: Limits;
}

export function scaleOf(question: Question) {
  const year = aYear(question);
  const peak = atPeak(question);
  const epoch = epochOf(question, year.subjects);
  const instances = instancesOf(question, peak.approvalsASecond);
  const strains = strainsOf(question, { peak, neverRolledBytes: epoch.neverRolledBytes });
  return { year, peak, epoch, instances, strains, breaksFirst: strains[0]?.what };
}
export type Scale = ReturnType<typeof scaleOf>;

function aYear({ costs, load }: Question) {
  const approvals = load.approvalsAYear;
  const [events, commands] = [approvals * costs.eventsAnApproval, approvals * costs.commandsAnApproval];
  return {
    events,
    commands,
    /** One fact, one subject. */
    subjects: events + commands,
    logBytes: approvals * costs.logBytesAnApproval * load.replicas,
    databaseRows: approvals * costs.databaseRowsAnApproval,
    databaseBytes: approvals * costs.databaseBytesAnApproval,
  };
}

function atPeak({ costs, load }: Question) {
  const approvalsASecond = (load.approvalsAYear / SECONDS_A_YEAR) * load.peakFactor;
  return {
    approvalsASecond,
    appendsASecond: approvalsASecond * (costs.eventsAnApproval + costs.commandsAnApproval),
    eventsASecond: approvalsASecond * costs.eventsAnApproval,
  };
}

/** An epoch ends where its subjects fill the broker's memory, or where starting on them takes too long. */
function epochOf({ costs, load, limits }: Question, subjectsAYear: number) {
  const fixed = costs.brokerBaseBytes + load.tenants * load.poolsATenant * costs.brokerBytesAPool;
  const byMemory = Math.max(0, limits.brokerMemoryBytes - fixed) / costs.brokerBytesASubject;
  const byStart = (limits.brokerStartSeconds / costs.brokerStartSecondsAMillionSubjects) * MILLION;
  const subjects = Math.floor(Math.min(byMemory, byStart));
  return {
    endsBy: byMemory <= byStart ? ('memory' as const) : ('start' as const),
    subjects,
    days: (subjects / subjectsAYear) * DAYS_A_YEAR,
    epochsAYear: subjectsAYear / subjects,
    bytesAtItsEnd: fixed + subjects * costs.brokerBytesASubject,
    startSecondsAtItsEnd: (subjects / MILLION) * costs.brokerStartSecondsAMillionSubjects,
    neverRolledBytes: fixed + subjectsAYear * costs.brokerBytesASubject,
  };
}

function instancesOf({ costs, load, limits }: Question, approvalsASecond: number) {
  const cores = (service: Service) => (approvalsASecond * costs.cpuSecondsAnApproval[service]) / limits.busyShare;
  const waitingBytes = waitingBytesOf({ costs, load });
  const room = limits.gatewayHeapBytes - costs.gatewayBaseBytes;
  const sockets = load.waitingWorkers + load.openStreams;
  const gatewayNeeds = {
    cpu: Math.ceil(cores('gateway')),
    heap: Math.ceil(waitingBytes / room),
    sockets: Math.ceil(sockets / limits.socketsAGateway),
  };
  return {
    gateways: Math.max(1, ...Object.values(gatewayNeeds)),
    gatewayNeeds,
    gatewayHeapBytes: waitingBytes,
    gatewaySockets: sockets,
    orchestrators: Math.max(1, Math.ceil(cores('orchestrator'))),
    approvalServices: Math.max(1, Math.ceil(cores('approval-service'))),
    brokerCores: cores('broker'),
    postgresCores: cores('postgres'),
  };
}

const waitingBytesOf = ({ costs, load }: Pick<Question, 'costs' | 'load'>): number =>
  load.waitingWorkers * costs.gatewayBytesAWaitingWorker + load.openStreams * costs.gatewayBytesAStream;

interface Seen {
  readonly peak: ReturnType<typeof atPeak>;
  readonly neverRolledBytes: number;
}

/** What cannot be had by starting one more of it, as a share of what there is; the worst first. */
function strainsOf({ costs, limits }: Question, { peak, neverRolledBytes }: Seen) {
  const strains = [
    { what: 'broker memory, a year without a roll', share: neverRolledBytes / limits.brokerMemoryBytes },
    { what: 'appends', share: peak.appendsASecond / limits.appendsASecond },
    { what: 'the one projector', share: peak.eventsASecond / limits.projectedASecond },
    {
      what: 'the broker on one core',
      share: (peak.approvalsASecond * costs.cpuSecondsAnApproval.broker) / limits.busyShare,
    },
  ];
  return strains.sort((one, other) => other.share - one.share);
}
