import { programWords } from './programs.ts';
import { baseName, type Statement } from './shell.ts';

/** A program that goes to the background: its command ends, and the program does not keep a container alive. */
interface Daemon {
  readonly program: string;
  readonly subcommand?: string;
  /** The flag that keeps it in the foreground. */
  readonly flag: string;
  /** All flags that do, or with which it only prints something. */
  readonly stays: RegExp;
}

// Sources, read 2026-11-23: https://docs.ray.io/en/latest/cluster/cli.html#ray-start, https://man.openbsd.org/sshd,
// https://slurm.schedmd.com/slurmd.html, https://docs.nvidia.com/deploy/mps/appendix-tools-and-interface-reference.html, https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/getting-started.html
const daemons: readonly Daemon[] = [
  { program: 'ray', subcommand: 'start', flag: '--block', stays: /^--(?:block|help)\b/ },
  { program: 'sshd', flag: '-D', stays: /^-[46eiq]*[DdGtTV]/ },
  { program: 'slurmd', flag: '-D', stays: /^-[a-zA-Z]*[CDGhV]/ },
  { program: 'slurmctld', flag: '-D', stays: /^-[a-zA-Z]*[DhV]/ },
  { program: 'nvidia-cuda-mps-control', flag: '-f', stays: /^-[^d]/ },
  { program: 'nv-hostengine', flag: '-n', stays: /^(?:-n|-h|-t|-v|--no-daemon|--help|--term|--version)$/ },
];

/** A daemon that its flag keeps in the foreground, as in `ray start --block`; undefined for all other commands. */
export function foregroundDaemon(statement: Statement): string | undefined {
  if (statement.kind !== 'command' || statement.background) return undefined;
  const [program = '', ...rest] = programWords(statement);
  const { subcommand, flag } = daemonOf(baseName(program), rest) ?? {};
  if (flag === undefined || !rest.some((word) => word === flag)) return undefined;
  // With `-t`, sshd only checks its configuration.
  if (rest.some((word) => /^-(?:[htTvV]$|-(?:help|version)\b)/.test(word))) return undefined;
  return [baseName(program), subcommand, flag].filter((word) => word !== undefined).join(' ');
}

function daemonOf(name: string, rest: readonly string[]): Daemon | undefined {
  return daemons.find((one) => one.program === name && (one.subcommand ?? rest[0]) === rest[0]);
}

/** The flag that would keep a daemon in the foreground; undefined for daemons that already stay there and for all other programs. */
export function foregroundFlag(statement: Statement): string | undefined {
  if (statement.kind !== 'command' || statement.background) return undefined;
  const [program = '', ...rest] = programWords(statement);
  const daemon = daemonOf(baseName(program), rest);
  // A variable may hold the flag.
  if (daemon === undefined || rest.some((word) => daemon.stays.test(word) || /^["']?\$/.test(word))) return undefined;
  return daemon.flag;
}

/** Terminals and launchers that start a program without waiting for it, and the flag that says so. */
const detaching: ReadonlyMap<string, RegExp> = new Map([
  ['tmux', /^-[a-zA-Z]*d/],
  ['screen', /^-[a-zA-Z]*(?:dm|md)/],
  ['setsid', /^(?:-[a-z]*f|--fork$)/],
  ['start-stop-daemon', /^(?:-b|--background)$/],
]);

/** Whether a command starts a program in the background by itself: `tmux new -d "python train.py"`. */
export function detaches(statement: Statement): boolean {
  if (statement.kind !== 'command') return false;
  const [program, ...rest] = statement.words.map(({ text }) => text);
  const name = baseName(program ?? '');
  const isSession = name !== 'tmux' || /^new(?:-session)?$/.test(rest[0] ?? '');
  return isSession && rest.some((word) => detaching.get(name)?.test(word) === true);
}
