// @ts-check
/**
 * Who may do what on the broker: the one place. Every service is an account of its own that imports just what stands here;
 * what is not imported does not exist for it. Nobody lives in the account `LOG`, which owns the streams.
 *
 * @typedef {{
 *   account: string,
 *   facts: string[],
 *   api: string[],
 *   pulls: string[],
 *   acks: string[],
 *   serves?: string,
 *   asks?: string[],
 *   never?: string[],
 * }} Identity
 * `facts`: what it may write. `api`, `pulls`, `acks`: the requests to JetStream, after their fixed beginnings. `serves` and `asks`:
 * request/reply between services. `never`: exceptions to `api` and `pulls` that a pattern cannot say.
 */

const EVERY_ID = 'hp.v1.*.*.*';
/** Of the approval-service: what it reacts to. */
const REACTIONS = ['approvals', 'policies', 'precedents', 'remembered', 'grants'];
const OTHERS_DURABLES = ['orchestrator', ...REACTIONS, 'projector'];
const DURABLES = [...OTHERS_DURABLES, 'gateway'];

/** @type {Record<string, Identity>} */
export const identities = {
  /** It creates, and may neither change nor remove. Not in the log's account either: there it could name a fact's subject as where to answer. */
  bootstrap: {
    account: 'BOOTSTRAP',
    facts: ['hp.v1.*._sys.genesis'],
    api: [
      'INFO',
      'STREAM.CREATE.*',
      'STREAM.INFO.*',
      'CONSUMER.CREATE.>',
      'CONSUMER.DURABLE.CREATE.>',
      'CONSUMER.INFO.*.*',
      'STREAM.MSG.GET.EVENTS',
    ],
    pulls: [],
    acks: [],
  },
  /** It alone makes the pools' subscriptions, and may not write what they deliver (docs/decisions/0002). */
  orchestrator: {
    account: 'ORCHESTRATOR',
    facts: [`${EVERY_ID}.req`, `${EVERY_ID}.res.*`, `${EVERY_ID}.end`, `${EVERY_ID}.out`],
    api: [
      'INFO',
      'STREAM.INFO.EVENTS',
      'STREAM.MSG.GET.EVENTS',
      'STREAM.MSG.GET.COMMANDS',
      'CONSUMER.INFO.EVENTS.orchestrator',
      'CONSUMER.INFO.COMMANDS.*',
      'CONSUMER.CREATE.COMMANDS.*.hp.cmd.v1.>',
    ],
    pulls: ['EVENTS.orchestrator'],
    acks: ['EVENTS.orchestrator.>'],
    serves: 'orchestrator',
  },
  'approval-service': {
    account: 'APPROVALS',
    facts: [
      `${EVERY_ID}.dec`,
      `${EVERY_ID}.use`,
      `${EVERY_ID}.step.*`,
      `${EVERY_ID}.try.*.*`,
      `${EVERY_ID}.issue`,
      `${EVERY_ID}.over`,
      `${EVERY_ID}.red.*`,
      'hp.v1.*.*._.policy.*',
      'hp.v1.*.*._.freeze.*',
      `${EVERY_ID}.setting.*`,
      `${EVERY_ID}.note.*`,
    ],
    api: [
      'INFO',
      'STREAM.INFO.EVENTS',
      'STREAM.MSG.GET.EVENTS',
      ...REACTIONS.map((durable) => `CONSUMER.INFO.EVENTS.${durable}`),
      'CONSUMER.INFO.EVENTS.projector',
      'CONSUMER.RESET.EVENTS.projector',
    ],
    pulls: [...REACTIONS, 'projector'].map((durable) => `EVENTS.${durable}`),
    acks: REACTIONS.map((durable) => `EVENTS.${durable}.>`),
    serves: 'approval-service',
  },
  /** The only one that may ask the deciders, and the only one that may write a continuation. */
  gateway: {
    account: 'GATEWAY',
    facts: ['hp.cmd.v1.>'],
    api: [
      'INFO',
      'STREAM.INFO.EVENTS',
      'STREAM.INFO.COMMANDS',
      'STREAM.MSG.GET.EVENTS',
      'STREAM.MSG.GET.COMMANDS',
      'CONSUMER.INFO.EVENTS.*',
      'CONSUMER.INFO.COMMANDS.*',
      'CONSUMER.CREATE.EVENTS.*',
    ],
    pulls: ['EVENTS.*', 'COMMANDS.*'],
    acks: ['EVENTS.gateway.>', 'COMMANDS.>'],
    asks: ['orchestrator', 'approval-service'],
    // It makes readers for the streams it serves; under a durable's name that would change the durable.
    never: [
      ...DURABLES.map((durable) => `CONSUMER.CREATE.EVENTS.${durable}`),
      ...OTHERS_DURABLES.map((durable) => `CONSUMER.MSG.NEXT.EVENTS.${durable}`),
    ],
  },
  audit: {
    account: 'AUDIT',
    facts: ['hp.v1.*._sys.anchor.*', 'hp.v1.*._sys.key.*'],
    api: ['INFO', 'STREAM.INFO.EVENTS', 'STREAM.MSG.GET.EVENTS'],
    pulls: [],
    acks: [],
  },
  /** Looks, and writes nothing. */
  operator: {
    account: 'OPERATOR',
    facts: [],
    api: [
      'INFO',
      'STREAM.NAMES',
      'STREAM.LIST',
      'STREAM.INFO.*',
      'CONSUMER.NAMES.*',
      'CONSUMER.LIST.*',
      'CONSUMER.INFO.*.*',
      'STREAM.MSG.GET.*',
    ],
    pulls: [],
    acks: [],
  },
};

export const identityNames = Object.keys(identities);

/** Everything that an identity may publish to the log's account as a request with one answer. @param {Identity} identity */
export const requestsOf = ({ facts, api }) => [...facts, ...api.map((call) => `$JS.API.${call}`)];

/** Pulls are answered by a stream of messages. @param {Identity} identity */
export const pullsOf = ({ pulls }) => pulls.map((consumer) => `$JS.API.CONSUMER.MSG.NEXT.${consumer}`);

/** Acknowledgements get no answer. @param {Identity} identity */
export const acksOf = ({ acks }) => acks.map((consumer) => `$JS.ACK.${consumer}`);

/** The subjects under which a service is asked. @param {string} service */
export const rpcOf = (service) => `hp.rpc.v1.${service}.>`;

/** What is taken away again from what the patterns above give. @param {Identity} identity */
export const deniedOf = ({ never = [] }) => never.map((call) => `$JS.API.${call}`);

/** The kinds of fact that an identity may write, as subject patterns. @param {string} name */
export const factSubjects = (name) => identities[name]?.facts ?? [];
