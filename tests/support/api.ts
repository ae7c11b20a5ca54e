export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, any>;
}

/** Plain HTTP, as any client would speak it. */
export interface Api {
  readonly token: string;
  readonly url: string;
  get(path: string, headers?: Record<string, string>): Promise<ApiAnswer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  delete(path: string): Promise<ApiAnswer>;
  raw(path: string, init: RequestInit): Promise<ApiAnswer>;
}

export function api(url: string, token: string, always: Record<string, string> = {}): Api {
  const raw = async (path: string, init: RequestInit): Promise<ApiAnswer> => {
    const authorization = token === '' ? {} : { authorization: `Bearer ${token}` };
    const headers = { ...authorization, ...always, ...(init.headers as Record<string, string> | undefined) };
    const answer = await fetch(url + path, { ...init, headers });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      body: text === '' ? {} : (JSON.parse(text) as Record<string, any>),
    };
  };
  return {
    token,
    url,
    raw,
    get: (path, headers = {}) => raw(path, { headers }),
    post: (path, body, headers = {}) =>
      raw(
        path,
        body === undefined
          ? { method: 'POST', headers }
          : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } },
      ),
    delete: (path) => raw(path, { method: 'DELETE' }),
  };
}
