/** Where no patterns are given every name is among them. */
export const isAmong = (patterns: readonly string[] | undefined, ...names: readonly string[]): boolean =>
  patterns === undefined || patterns.some((pattern) => names.some((name) => matches(pattern, name)));

/** Whether a name matches a pattern in which `*` stands for any run of characters; everything else stands for itself. */
export function matches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}
