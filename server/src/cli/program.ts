import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { version } from '../../../package.json';
import { type SourceId, sourceIds } from '../price-sources/price-source.ts';
import { type RuleSetName, ruleSetNames } from '../rules/rule-sets.ts';
import { type CheckOptions, check } from './check.ts';
import { checkInThread } from './check-thread.ts';
import type { ClusterOptions } from './cluster/cluster.ts';
import type { CostOptions, RenderCosts } from './cost/cost.ts';
import { renderCostText } from './cost/text.ts';
import type { RefreshPricesOptions } from './prices/refresh.ts';
import type { RenderReport } from './reports/format.ts';
import { severities } from './reports/text.ts';
import { printable } from './terminal.ts';
import { systemReason, UsageError } from './usage-error.ts';
import { commandOf, unknownCommand, usageSentence } from './usage-words.ts';

/** The formats except text and full, each loaded on demand. */
const formats: ReadonlyMap<string, () => Promise<RenderReport>> = new Map([
  ['json', async () => (await import('./reports/json.ts')).renderJson],
  ['sarif', async () => (await import('./reports/sarif.ts')).renderSarif],
  ['github', async () => (await import('./reports/github.ts')).renderGithub],
  ['gitlab', async () => (await import('./reports/gitlab.ts')).renderGitlab],
  ['junit', async () => (await import('./reports/junit.ts')).renderJunit],
  ['markdown', async () => (await import('./reports/markdown.ts')).renderMarkdown],
]);

const costFormats: ReadonlyMap<string, () => Promise<RenderCosts>> = new Map([
  ['json', async () => (await import('./cost/formats.ts')).renderCostJson],
  ['markdown', async () => (await import('./cost/formats.ts')).renderCostMarkdown],
  ['html', async () => (await import('./cost/formats.ts')).renderCostHtml],
  ['csv', async () => (await import('./cost/formats.ts')).renderCostCsv],
]);

// Exit status: 0: no finding at or above --fail-on, no cost above a limit; 1: at least one; 2: gpulint could not run. Only the status is set and the process ends
// by itself, so that a pipe receives all of the output.

const port = parentPort;
if (port === null) {
  process.stdout.on('error', stopQuietly);
  process.stderr.on('error', stopQuietly);
  run(process.argv.slice(2)).then((status) => {
    process.exitCode = status;
  });
} else void checkInThread(workerData, (checked) => port.postMessage(checked));

async function run(args: readonly string[]): Promise<number> {
  let status = 0;
  const program = createProgram((result) => {
    status = result;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return status;
  } catch (error) {
    return reportError(error, args, program);
  }
}

/** `md` is short for `markdown`. */
function formatOption(names: readonly string[]): Option {
  const option = new Option('--format <format>', 'the output format').choices(names).default('text');
  const { parseArg } = option;
  return option.argParser((name: string) => parseArg?.(name === 'md' ? 'markdown' : name, 'text'));
}

/** @param done called with the exit status of `check`, `cost` and `prices refresh` */
function createProgram(done: (status: number) => void): Command {
  const program = new Command('gpulint')
    .description(
      'Finds GPU mistakes in Kubernetes, KServe and training-job YAML, shows what they cost, and fixes them.',
    )
    .version(version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addHelpText(
      'after',
      `
Examples:
  gpulint check deploy/                  findings and costs
  gpulint check --fix deploy/            apply the safe fixes
  gpulint cost --base origin/main        what a change costs
  gpulint explain gpu-limits-required    why a finding is reported

Documentation: https://github.com/gpulint/gpulint`,
    )
    .exitOverride()
    .configureOutput({ outputError: () => undefined });

  addCheckCommand(program, done);
  addCostCommand(program, done);
  addClusterCommand(program);
  addPricesCommand(program, done);
  addRuleCommands(program);
  addServerCommand(program);
  addHelpCommand(program);
  return program;
}

function addCheckCommand(program: Command, done: (status: number) => void): void {
  program
    .command('check')
    .description('check files and folders')
    .addArgument(
      new Argument('[path...]', 'files, folders, or - for standard input').default(['.'], 'the current folder'),
    )
    .addOption(formatOption(['text', 'full', ...formats.keys()]))
    .option('--output <file>', 'write to a file instead of standard output')
    .option('--fix', 'apply the safe fixes')
    .option('--diff', 'print the changes of --fix as a diff, without applying them')
    .addOption(
      new Option('--fail-on <severity>', 'the lowest severity that sets the exit status to 1')
        .choices([...severities, 'never'])
        .default('error'),
    )
    .option('--config <file>', 'use this config instead of the nearest .gpulint.yaml')
    .option('--no-config', 'use no config')
    .addOption(ruleSetOption())
    .option('--baseline <file>', 'skip the findings in this baseline file')
    .option('--write-baseline', 'write all findings to the baseline file')
    .option('--report-unused', 'report comments and annotations that silence nothing')
    .option('--cluster [context]', 'check whether the workloads would run in the cluster of a kubeconfig context')
    .option('-q, --quiet', 'print only the findings at or above --fail-on')
    .option('--color', 'color the output')
    .option('--no-color', 'do not color the output')
    .option('--stdin-filename <name>', 'the file name to report for standard input')
    .addHelpText(
      'after',
      `
Exit status:
  0  no finding at or above --fail-on
  1  at least one such finding
  2  the check is incomplete: a wrong option or config, or a path that cannot be checked`,
    )
    .action(
      async (paths: readonly string[], { format, ...options }: Omit<CheckOptions, 'render'> & { format: string }) => {
        done(await check(paths, { ...options, full: format === 'full', render: await formats.get(format)?.() }));
      },
    );
}

function addCostCommand(program: Command, done: (status: number) => void): void {
  program
    .command('cost')
    .description('print what the GPUs in files and folders cost, and what a change adds')
    .addArgument(
      new Argument('[path...]', 'files, folders, or - for standard input').default(['.'], 'the current folder'),
    )
    .addOption(formatOption(['text', ...costFormats.keys()]))
    .option('--base <revision>', 'compare with a git revision, such as origin/main')
    .option('--compare <report>', 'compare with an earlier report of check --format json')
    .addOption(amountOption('--max-hourly <usd>', 'set the exit status to 1 above this total per hour'))
    .addOption(amountOption('--max-increase <usd>', 'set the exit status to 1 above this increase per hour'))
    .option('--output <file>', 'write to a file instead of standard output')
    .option('--config <file>', 'use this config instead of the nearest .gpulint.yaml')
    .option('--no-config', 'use no config')
    .option('--color', 'color the output')
    .option('--no-color', 'do not color the output')
    .addHelpText(
      'after',
      `
Exit status:
  0  no limit and no budget is exceeded
  1  at least one is exceeded
  2  the costs are incomplete: a wrong option or config, or a path that cannot be checked`,
    )
    .action(
      async (paths: readonly string[], { format, ...options }: Omit<CostOptions, 'render'> & { format: string }) => {
        const { cost } = await import('./cost/cost.ts');
        done(await cost(paths, { ...options, render: await costFormats.get(format)?.() }, renderCostText));
      },
    );
}

function addClusterCommand(program: Command): void {
  program
    .command('cluster')
    .description("print a cluster's GPU node pools: free devices, prices, pending pods")
    .option('--context <name>', 'the kubeconfig context; by default the current one')
    .option('--kubeconfig <file>', 'the kubeconfig; by default the files in KUBECONFIG, or ~/.kube/config')
    .option('--namespace <name>', 'read only the pods of this namespace')
    .option(
      '--prometheus <url>',
      'the address of a Prometheus server with GPU metrics; by default a well-known one in the cluster',
    )
    .addOption(new Option('--format <format>', 'the output format').choices(['table', 'json']).default('table'))
    .option('--watch', 'print again whenever a figure changes')
    .option('--color', 'color the output')
    .option('--no-color', 'do not color the output')
    .action(async (options: ClusterOptions) => {
      const { cluster } = await import('./cluster/cluster.ts');
      await cluster(options);
    });
}

function addPricesCommand(program: Command, done: (status: number) => void): void {
  const prices = program
    .command('prices')
    .description('print the list prices in use: dates, sources, number, file')
    .helpCommand(false)
    .action(async () => (await import('./prices/show.ts')).showPrices());
  prices
    .command('refresh')
    .description('fetch current list prices from public sources on the internet')
    .addOption(
      new Option('--provider <list>', `the sources: ${sourceIds.join(', ')}`).argParser((text): readonly SourceId[] =>
        text.split(',').map((name) => {
          const found = sourceIds.find((id) => id === name.trim());
          if (found !== undefined) return found;
          throw new InvalidArgumentError(`allowed: ${sourceIds.join(', ')}`);
        }),
      ),
    )
    .option('--region <region...>', 'only these regions')
    .addOption(new Option('--progress <format>', 'the progress format').choices(['text', 'json']).default('text'))
    .action(async (options: RefreshPricesOptions) => {
      const { refreshPrices } = await import('./prices/refresh.ts');
      done(await refreshPrices(options));
    });
  prices
    .command('reset')
    .description('remove the fetched prices and use the catalog prices again')
    .action(async () => (await import('./prices/show.ts')).resetPrices());
}

function addRuleCommands(program: Command): void {
  program
    .command('explain')
    .description('print the documentation of a rule')
    .argument('<rule>', 'the id of the rule, as findings and "gpulint rules" show it')
    .action(async (id: string) => {
      const { explain } = await import('./explain.ts');
      explain(id);
    });
  program
    .command('rules')
    .description('list the rules')
    .addOption(ruleSetOption())
    .action(async (options: { rules?: RuleSetName }) => {
      const { listRules } = await import('./explain.ts');
      listRules(options.rules);
    });
}

function addServerCommand(program: Command): void {
  program
    .command('lsp')
    .description('start the language server')
    .option('--stdio', 'communicate over standard input and output')
    .action(() => {
      throw new Error('main.ts starts the server before this command runs');
    });
}

function addHelpCommand(program: Command): void {
  program
    .command('help')
    .description('print the help of a command')
    .argument('[command...]', 'the command')
    .action((names: readonly string[]) => {
      const { command, rest } = commandOf(program, names);
      if (rest[0] !== undefined) throw new UsageError(unknownCommand(rest[0], command));
      command.outputHelp();
    });
}

function amountOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    const amount = Number(text);
    if (text.trim() !== '' && amount >= 0 && Number.isFinite(amount)) return amount;
    throw new InvalidArgumentError('must be an amount in US dollars per hour, such as 12.50');
  });
}

function ruleSetOption(): Option {
  return new Option('--rules <set>', 'the rule set to start from').choices(ruleSetNames);
}

/** Prints one sentence on standard error that names the problem and the remedy. Help and version are not errors. */
function reportError(error: unknown, args: readonly string[], program: Command): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help') return 0;
    return fail(usageSentence(error, args, program));
  }
  if (error instanceof UsageError) return fail(error.message, ...error.more);
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(
    `gpulint: internal error; report this bug with the stack trace:\n${trace.split('\n').map(printable).join('\n')}\n`,
  );
  return 2;
}

function fail(...sentences: readonly string[]): number {
  for (const sentence of sentences) process.stderr.write(`gpulint: ${printable(sentence)}\n`);
  return 2;
}

/** The reader of the output has closed it (| head). */
function stopQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit();
  process.stderr.write(`gpulint: cannot write the report: ${printable(systemReason(error))}\n`);
  process.exit(2);
}
