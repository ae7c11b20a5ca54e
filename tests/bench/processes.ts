import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const TICKS_A_SECOND = 100;

/** What the system says of a process; it is Linux alone that says it so. */
export const residentBytesOf = (pid: number): number => bytesOf(pid, 'VmRSS');
/** The most that was resident since it started. */
export const mostResidentBytesOf = (pid: number): number => bytesOf(pid, 'VmHWM');

function bytesOf(pid: number, what: string): number {
  const kilobytes = new RegExp(`${what}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

export const handlesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** Seconds of processor time since its start. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

/** With those of its children, and of children that have ended. */
export function cpuSecondsOfFamily(pid: number): number {
  return [pid, ...childrenOf(pid)].reduce((sum, one) => sum + cpuSecondsOf(one), 0);
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

export const socketsOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/fd`).filter((fd) => isSocket(`/proc/${pid}/fd/${fd}`)).length;

/** One that was closed while we looked is none. */
function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith('socket:');
  } catch {
    return false;
  }
}
