import type { Position, Range, WorkspaceEdit } from 'vscode-languageserver';

// What the extension and its server say to each other beyond LSP, and what both must know alike. The client bundles this file and nothing else
// of the server. A client that sends no `ClientOptions` gets plain LSP.

/** Folders that hold other people's files, or none of manifests. */
export const excludedFolderNames: readonly string[] = ['node_modules', '.git', '.venv', '.terraform', '.cache'];

/** Larger files are not read: nobody writes a manifest of that size. */
export const maxFileBytes = 5_000_000;

/** Whether a path, or a URI, is such a folder or leads through one. */
export function isExcluded(path: string): boolean {
  return path.split('/').some((step) => excludedFolderNames.includes(step));
}

/** What our own client can do, sent as initializationOptions. */
export interface ClientOptions {
  /** It has the commands below and opens pickers for them. */
  readonly picker?: boolean;
  /** It shows the summary of a file. */
  readonly summary?: boolean;
  /** It answers `readFile`. */
  readonly readFile?: boolean;
  /** It answers `listFiles`. */
  readonly listFiles?: boolean;
  /** The languages (ids) whose syntax errors another extension shows already. */
  readonly syntaxElsewhere?: readonly string[];
}

/** Commands of the client that lenses and code actions name. */
export const commands = {
  showCost: 'gpulint.showCost',
  setGpu: 'gpulint.setGpu',
  rewriteToMig: 'gpulint.rewriteToMig',
  /** The light bulb at a place. */
  showFixes: 'gpulint.showFixes',
  /** Selects a range, for a person to write over. */
  select: 'gpulint.select',
  /** The page of a rule, given by its id. */
  showRule: 'gpulint.showRule',
  setUp: 'gpulint.setUp',
  /** Mends in all files what a rule finds, or what can be mended safely, after a preview. */
  fixAllInWorkspace: 'gpulint.fixAllInWorkspace',
} as const;

export const methods = {
  /** Server to client, a notification: what the status bar says of a file. */
  summary: 'gpulint/summary',
  /** Client to server, a notification: the languages whose syntax errors another extension shows have changed. */
  syntaxElsewhere: 'gpulint/syntaxElsewhere',
  /** Server to client: the text of a file that the server cannot reach itself. */
  readFile: 'gpulint/readFile',
  /** Server to client: the YAML files below a folder that the server cannot reach itself. */
  listFiles: 'gpulint/listFiles',
  /** The workloads of a file with what they cost. */
  costs: 'gpulint/costs',
  /** The GPUs of the catalogue with what they cost. */
  gpus: 'gpulint/gpus',
  /** What the whole GPU that is asked for at a place can be cut into. */
  migChoices: 'gpulint/migChoices',
  /** The edit that asks for a slice instead. */
  rewriteToMig: 'gpulint/rewriteToMig',
  /** The edit that writes a GPU and what else was chosen into the config that counts for a file. */
  setGpu: 'gpulint/setGpu',
  /** What of some files can be mended at once. */
  workspaceFixes: 'gpulint/workspaceFixes',
  /** The edit that does it. */
  fixWorkspace: 'gpulint/fixWorkspace',
  /** The ids of all rules. */
  ruleIds: 'gpulint/ruleIds',
  /** Where a cluster can run, and the regions that there are prices for. */
  platforms: 'gpulint/platforms',
} as const;

/** Beside the values of the section `gpulint`: whose settings each key is in, `user` or `workspace`, by its path. */
export const settingOrigins = '$origins';

export interface SummaryParams {
  readonly uri: string;
  /** null: nothing in the file asks for an accelerator. */
  readonly summary: FileSummary | null;
}

export interface FileSummary {
  /** `3 GPUs $20.64/h`. */
  readonly text: string;
  /** One line per workload. */
  readonly tooltip: string;
  /** What a screen reader says. */
  readonly label: string;
}

export interface SyntaxElsewhereParams {
  readonly languages: readonly string[];
}

export interface ReadFileParams {
  readonly uri: string;
}
/** null: there is no such file. */
export type ReadFileResult = string | null;

export interface ListFilesParams {
  /** A folder's URI. */
  readonly folder: string;
  /** How many are wanted at most. */
  readonly most: number;
}
/** URIs. */
export type ListFilesResult = readonly string[];

export interface PlaceParams {
  readonly uri: string;
  readonly position: Position;
}

export interface CostsParams {
  readonly uri: string;
}
export interface CostItem {
  readonly label: string;
  readonly description: string;
  /** Where the hover with the cost table opens. */
  readonly position: Position;
}
export type CostsResult = readonly CostItem[];

export interface GpusParams {
  /** Only GPUs that the requests of this file can mean; all of them where it asks for none. */
  readonly uri?: string;
}
export interface GpuItem {
  readonly id: string;
  readonly name: string;
  /** Memory, price range. */
  readonly description: string;
  readonly providers: readonly ProviderItem[];
}
export interface ProviderItem {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}
export type GpusResult = readonly GpuItem[];

export interface MigChoicesParams extends PlaceParams {
  /** A GPU that a person chose where the file tells none. */
  readonly gpu?: string;
}
export interface MigChoicesResult {
  /** The GPU that the choices are for; null where a person has to say it first. */
  readonly gpu: { readonly id: string; readonly name: string } | null;
  /** The GPUs to choose from when none is told. */
  readonly gpus: readonly GpuItem[];
  readonly profiles: readonly MigProfileItem[];
}
export interface MigProfileItem {
  readonly profile: string;
  /** Memory, share, dollars an hour. */
  readonly description: string;
}

export interface RewriteToMigParams extends PlaceParams {
  readonly gpu: string;
  readonly profile: string;
}

export interface SetGpuParams {
  /** Any file of the workspace folder whose config is meant. */
  readonly uri: string;
  /** Of each value, null or nothing: it is not written. */
  readonly gpu: string | null;
  readonly provider: string | null;
  readonly platform?: string | null;
  readonly region?: string | null;
  readonly capacity?: string | null;
}

export interface WorkspaceFixesParams {
  /** The files to look at. */
  readonly uris: readonly string[];
}
/** What one rule finds and a fix mends. */
export interface WorkspaceFixItem {
  readonly rule: string;
  readonly fixes: number;
  readonly files: number;
  /** All of them are safe. */
  readonly safe: boolean;
}
export type WorkspaceFixesResult = readonly WorkspaceFixItem[];

export interface FixWorkspaceParams extends WorkspaceFixesParams {
  /** null: the safe fixes of all rules. */
  readonly rule: string | null;
}

export type RuleIdsResult = readonly string[];

export interface PlatformItem {
  readonly id: string;
  readonly name: string;
  readonly provider: string | null;
  /** Empty where one price holds everywhere. */
  readonly regions: readonly string[];
}
export type PlatformsResult = readonly PlatformItem[];

/** An edit to apply, or the sentence that says why there is none. */
export type EditResult = { readonly edit: WorkspaceEdit; readonly file?: string } | { readonly problem: string };

/** Arguments of the commands that lenses and code actions carry. */
export interface PlaceArgument {
  readonly uri: string;
  readonly range: Range;
}
