import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from '#contracts/parse';
import { PublishPolicy } from '#contracts/policies/commands';
import type { Effect, Quorum } from '#contracts/policies/policy';
import { policyErrors } from './check-policy.js';
import { compilePolicy } from './compiled.js';
import { ruleOn } from './ruling.js';

interface Call {
  readonly tool: string;
  readonly args?: Record<string, unknown>;
  readonly server?: string;
  readonly agent?: { readonly id: string; readonly path?: string[] };
  readonly annotations?: Record<string, unknown>;
}

type Said = {
  readonly effect: Effect;
  readonly rules?: readonly string[];
  readonly approvers?: Quorum;
  readonly fails?: string;
};

const ONE: Quorum = { count: 1 };
const approved = (...rules: string[]): Said => ({ effect: 'approve', rules });
const denied = (...rules: string[]): Said => ({ effect: 'deny', rules });
const asks = (approvers: Quorum, ...rules: string[]): Said => ({ effect: 'require', approvers, rules });

/** What each example says of some calls. */
const EXPECTED: Readonly<Record<string, readonly (readonly [Call, Said])[]>> = {
  'Reading needs nobody': [
    [{ tool: 'read_file' }, approved('reads')],
    [{ tool: 'reread_file' }, asks(ONE)],
    [{ tool: 'write_file' }, asks(ONE)],
  ],
  'Two people for large payments': [
    [{ tool: 'pay', args: { amount: 50 } }, approved('small')],
    [{ tool: 'pay', args: { amount: 50.01 } }, asks(ONE)],
    [{ tool: 'pay', args: { amount: 1_000.5 } }, asks({ count: 2, groups: ['payments'] }, 'large')],
    [
      { tool: 'pay', args: { amount: '50' } },
      { ...asks(ONE), fails: 'small' },
    ],
    [{ tool: 'pay' }, { ...asks(ONE), fails: 'small' }],
  ],
  'Never delete in production': [
    [{ tool: 'drop_table', server: 'db-production' }, denied('no-deletes')],
    [{ tool: 'drop_table', server: 'db-test' }, approved('databases')],
    [{ tool: 'query', server: 'db-production' }, approved('databases')],
    [{ tool: 'drop_table' }, asks(ONE)],
  ],
  'Mail inside the company': [
    [{ tool: 'send_email', args: { to: ['ada@example.com'], cc: ['bob@example.com'] } }, approved('colleagues')],
    [
      { tool: 'send_email', args: { to: ['ada@example.com', 'x@example.com.evil.org'] } },
      asks({ count: 1, groups: ['office'] }),
    ],
    [
      { tool: 'send_email', args: { to: ['ada@example.com'], bcc: ['x@evil.org'] } },
      asks({ count: 1, groups: ['office'] }),
    ],
    [
      { tool: 'send_email', args: {} },
      { ...asks({ count: 1, groups: ['office'] }), fails: 'colleagues' },
    ],
  ],
  'Legal first, then finance': [
    [
      { tool: 'sign_contract' },
      asks(
        {
          inOrder: [
            { count: 1, groups: ['legal'] },
            { count: 2, groups: ['finance'] },
          ],
        },
        'contracts',
      ),
    ],
    [{ tool: 'read_contract' }, asks(ONE)],
  ],
  'A lead, or two engineers': [
    [
      { tool: 'deploy_shop' },
      asks(
        {
          any: [
            { count: 1, groups: ['leads'] },
            { count: 2, groups: ['engineers'] },
          ],
          denyCount: 2,
        },
        'deployments',
      ),
    ],
    [{ tool: 'undeploy_shop' }, asks(ONE)],
  ],
  'Whoever is on call, then others': [
    [{ tool: 'restart_service' }, asks({ count: 1, groups: ['on-call'] }, 'restarts')],
    [{ tool: 'stop_service' }, asks(ONE)],
  ],
  'It goes ahead unless somebody objects': [
    [
      { tool: 'order_supplies', args: { total: 20, items: [{ kind: 'paper' }] } },
      asks({ count: 1, groups: ['buyers'] }, 'small-orders'),
    ],
    [
      { tool: 'order_supplies', args: { total: 20, items: [{ kind: 'hardware' }] } },
      asks({ count: 1, groups: ['buyers'] }),
    ],
    [{ tool: 'order_supplies', args: { total: 201, items: [] } }, asks({ count: 1, groups: ['buyers'] })],
  ],
  'No secrets in a post': [
    [
      { tool: 'post_message', args: { text: 'the API key is 1234', channel: 'blog' } },
      asks({ all: [ONE, { count: 1, groups: ['press'] }] }, 'posts', 'public'),
    ],
    [{ tool: 'post_message', args: { text: 'the API_KEY is 1234', channel: 'blog' } }, denied('secrets')],
    [{ tool: 'post_message', args: { text: 'hello', channel: 'team' } }, asks(ONE, 'posts')],
    [{ tool: 'post_message', args: {} }, asks(ONE, 'posts')],
  ],
  'An agent on probation': [
    [{ tool: 'add_note', agent: { id: 'billing' } }, approved('notes')],
    [{ tool: 'add_note', agent: { id: 'trial-7' } }, asks({ count: 2 }, 'probation')],
    [{ tool: 'add_note', agent: { id: 'billing', path: ['trial-7'] } }, asks({ count: 2 }, 'probation')],
    [{ tool: 'wipe', agent: { id: 'trial-7' }, annotations: { destructiveHint: true } }, denied('nothing-destructive')],
    [{ tool: 'wipe', agent: { id: 'billing' }, annotations: { destructiveHint: true } }, asks(ONE)],
  ],
};

const text = readFileSync(new URL('../../../docs/policies.md', import.meta.url), 'utf8');
const EXAMPLES = [...text.matchAll(/^### (.+)\n[^#]*?^```json\n([^]*?)^```$/gm)].map(
  ([, name = '', json = '']) => [name, json] as const,
);
const published = (json: string): PublishPolicy => {
  const parsed = parse(PublishPolicy, JSON.parse(json));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return parsed.value;
};

describe('the examples for policy authors', () => {
  it('are ten, each under its own heading', () => {
    expect(EXAMPLES.length).toBe(10);
    expect([...text.matchAll(/^### (.+)$/gm)].map(([, name]) => name)).toEqual(EXAMPLES.map(([name]) => name));
  });
  it('are those of which something is expected', () =>
    expect(EXAMPLES.map(([name]) => name).sort()).toEqual(Object.keys(EXPECTED).sort()));
  it('are each asked about two calls at least', () =>
    expect(Object.values(EXPECTED).filter((calls) => calls.length < 2)).toEqual([]));
});

describe.each(EXAMPLES)('%s', (name, json) => {
  it('is a policy without mistakes', () => expect(policyErrors(published(json))).toEqual([]));

  it.each(EXPECTED[name] ?? [])('says of %j what is expected', (call, { effect, rules, approvers, fails }) => {
    const { tool: toolName, args = {}, agent = { id: 'agent' }, ...more } = call;
    const request = { agent, conversationId: 'conv' };
    const ruling = ruleOn(compilePolicy(1, published(json)), request, { toolName, args, ...more });
    expect(ruling).toMatchObject({ effect, rules, ...(approvers ? { requirement: { approvers } } : {}) });
    if (approvers) expect(ruling.requirement.approvers).toEqual(approvers);
    expect(ruling.failures.map(({ rule }) => rule)).toEqual(expect.arrayContaining(fails ? [fails] : []));
    if (!fails) expect(ruling.failures).toEqual([]);
  });
});
