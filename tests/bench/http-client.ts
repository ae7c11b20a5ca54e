import { Agent, request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly body: Record<string, any>;
}
export type Post = (path: string, body: unknown) => Promise<Answer>;
export interface HttpClient {
  readonly post: Post;
  /** How many it has open, busy or kept. */
  connections(): number;
}

/** HTTP as cheap as a client can speak it, so that what is measured is the product: kept connections, nothing else. */
export function httpClient(url: string, token: string, connections: number): HttpClient {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'lifo' });
  const post: Post = (path, body) =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      };
      const sent = request({ agent, hostname, port, path, method: 'POST', headers }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () => {
          const got = Buffer.concat(parts).toString();
          resolve({ status: answer.statusCode ?? 0, body: JSON.parse(got) as Record<string, any> });
        });
      });
      sent.on('error', reject);
      sent.end(text);
    });
  const open = () => [agent.sockets, agent.freeSockets].flatMap((all) => Object.values(all).flat()).length;
  return { post, connections: open };
}
