import { get, type BadRow } from './bad-input.table.js';

type Readable = Pick<BadRow, 'path' | 'by'>;
const READABLE: readonly Readable[] = [
  { path: '/v1/approvals', by: 'approver' },
  { path: '/v1/turns?status=ready', by: 'operator' },
  { path: '/v1/parked', by: 'operator' },
  { path: '/v1/tokens', by: 'admin' },
  { path: '/v1/events', by: 'admin' },
  { path: '/v1/stats', by: 'approver' },
  { path: '/v1/stream', by: 'approver' },
  { path: '/v1/conversations/bad/events', by: 'agent' },
];
const PAGED = READABLE.slice(0, 5);
const asking = ({ path, by }: Readable, query: string, at?: string): BadRow =>
  get(`${path}${path.includes('?') ? '&' : '?'}${query}`, {
    ...(by === undefined ? {} : { by }),
    ...(at === undefined ? {} : { at }),
  });
export const QUERIES: readonly BadRow[] = [
  ...READABLE.flatMap((list) => [
    ...['-1', 'x', '1.5', '', '9007199254740993', '0x10', '%31%00', 'NaN', '+1', '1e3'].map((after) =>
      asking(list, `after=${after}`, 'after'),
    ),
    asking(list, 'nonsense=1', 'nonsense'),
    asking(list, 'After=1', 'After'),
    asking(list, '__proto__=1'),
    asking(list, 'constructor=1'),
    asking(list, 'after[]=1'),
    asking(list, 'after=1&after=2', 'after'),
    asking(list, 'tenant=other', 'tenant'),
  ]),
  ...PAGED.flatMap((list) =>
    ['0', '-1', '1.5', 'x', '', '100000', 'Infinity'].map((limit) => asking(list, `limit=${limit}`, 'limit')),
  ),
  ...READABLE.slice(6).flatMap((stream) =>
    ['x', '-1', '1.5', '9007199254740993', '1 2', '0x1'].map((id): BadRow => ({
      ...asking(stream, ''),
      path: stream.path,
      name: `${stream.path} from Last-Event-ID ${id}`,
      headers: { 'Last-Event-ID': id },
    })),
  ),
];
