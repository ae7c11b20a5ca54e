import canonicalize from 'canonicalize';

/** `sha256:` and the hexadecimal digest of the RFC 8785 form, as approvals have it. */
export async function argsDigest(args: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalize(args));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return `sha256:${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
