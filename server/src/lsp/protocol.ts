import type { Position, Range, WorkspaceEdit } from 'vscode-languageserver';

// The protocol between the extension and its server beyond LSP, and constants that both need. The client bundles this file and nothing else
// of the server. A client that sends no `ClientOptions` gets plain LSP.

/** Folders with third-party files or without manifests. */
export const excludedFolderNames: readonly string[] = ['node_modules', '.git', '.venv', '.terraform', '.cache'];

/** The files that are listed and indexed, as names with a wildcard: manifests, files of Terraform and the shapes of models. */
export const indexedNames = ['*.yaml', '*.yml', '*.tf', '*.tfvars', '*.tfvars.json', '*.hcl', 'config.json'] as const;

/** Whether a path or URI ends with such a name. */
export function isIndexedName(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return indexedNames.some((one) => (one.startsWith('*') ? name.endsWith(one.slice(1)) : name === one));
}

/** Larger files are not read: no manifest has that size. */
export const maxFileBytes = 5_000_000;

/** Whether a path or URI is such a folder or is inside one. */
export function isExcluded(path: string): boolean {
  return path.split('/').some((step) => excludedFolderNames.includes(step));
}

/** The abilities of our own client, sent as initializationOptions. */
export interface ClientOptions {
  /** It has the commands below and opens pickers for them. */
  readonly picker?: boolean;
  /** It shows the summary of a file. */
  readonly summary?: boolean;
  /** It handles `readFile`. */
  readonly readFile?: boolean;
  /** It handles `listFiles`. */
  readonly listFiles?: boolean;
  /** It handles `baseText`. */
  readonly baseTexts?: boolean;
  /** The user trusts the workspace, so a kubeconfig may be read and the programs that it names may run. */
  readonly trusted?: boolean;
  /** The ids of languages whose syntax errors another extension reports. */
  readonly syntaxElsewhere?: readonly string[];
}

/** The commands of the GPU Clusters view. */
export const clusterCommands = {
  connectCluster: 'gpulint.connectCluster',
  switchCluster: 'gpulint.switchCluster',
  disconnectCluster: 'gpulint.disconnectCluster',
  refreshCluster: 'gpulint.refreshCluster',
  clusterSettings: 'gpulint.clusterSettings',
  clusterDashboard: 'gpulint.clusterDashboard',
  sortPools: 'gpulint.sortPools',
  filterCluster: 'gpulint.filterCluster',
  clearClusterFilter: 'gpulint.clearClusterFilter',
  /** Lets the workload at the cursor run in a pool. */
  usePool: 'gpulint.usePool',
  /** Shows the selector and the tolerations for a pool as YAML. */
  showTolerations: 'gpulint.showTolerations',
  /** Opens the manifest of the owner of a pod. */
  openManifest: 'gpulint.openManifest',
  /** Selects the pods of a workload in the GPU Clusters view. */
  showPods: 'gpulint.showPods',
  copyCluster: 'gpulint.copyCluster',
  copyClusterName: 'gpulint.copyClusterName',
  copyClusterMarkdown: 'gpulint.copyClusterMarkdown',
  copyClusterJson: 'gpulint.copyClusterJson',
} as const;

/** Commands of the client that lenses and code actions use. */
export const commands = {
  showCost: 'gpulint.showCost',
  setGpu: 'gpulint.setGpu',
  rewriteToMig: 'gpulint.rewriteToMig',
  /** Lists the parts of a GPU on which the model of a request fits. */
  resizeGpu: 'gpulint.resizeGpu',
  /** Opens the light bulb menu at a position. */
  showFixes: 'gpulint.showFixes',
  /** Selects a range for the user to overwrite. */
  select: 'gpulint.select',
  /** Opens the page of the rule with an id. */
  showRule: 'gpulint.showRule',
  setUp: 'gpulint.setUp',
  /** Fetches list prices from public sources. */
  refreshPrices: 'gpulint.refreshPrices',
  /** Applies the fixes of a rule, or all safe fixes, in all files after a preview. */
  fixAllInWorkspace: 'gpulint.fixAllInWorkspace',
  /** Opens the page with the cost of the workspace. */
  costReport: 'gpulint.costReport',
  exportCostReport: 'gpulint.exportCostReport',
  refreshCosts: 'gpulint.refreshCosts',
  compareCosts: 'gpulint.compareCosts',
  /** Stops the request behind the GPU Cost view. */
  cancelCosts: 'gpulint.cancelCosts',
  sortCosts: 'gpulint.sortCosts',
  groupCosts: 'gpulint.groupCosts',
  /** Copies the selected rows of the GPU Cost view, or all of them. */
  copyCost: 'gpulint.copyCost',
  ...clusterCommands,
} as const;

export const methods = {
  /** Server to client, a notification: the status bar text of a file. */
  summary: 'gpulint/summary',
  /** Client to server, a notification: the languages whose syntax errors another extension reports have changed. */
  syntaxElsewhere: 'gpulint/syntaxElsewhere',
  /** Client to server, a notification: the price sheet of the user has changed. */
  pricesChanged: 'gpulint/pricesChanged',
  /** Server to client: the text of a file to which the server has no access. */
  readFile: 'gpulint/readFile',
  /** Server to client: the files below a folder to which the server has no access, if `isIndexedName`. */
  listFiles: 'gpulint/listFiles',
  /** Server to client: the text of a file in the last commit. */
  baseText: 'gpulint/baseText',
  /** Client to server, a notification: the last commit is another one. */
  basesChanged: 'gpulint/basesChanged',
  /** The workloads of some files whose cost differs from the last commit. */
  costChanges: 'gpulint/costChanges',
  /** The workloads of a file with their costs. */
  costs: 'gpulint/costs',
  /** The GPUs of the catalog with their prices. */
  gpus: 'gpulint/gpus',
  /** The MIG slices that can replace the whole-GPU request at a position. */
  migChoices: 'gpulint/migChoices',
  /** The edit that requests a MIG slice instead. */
  rewriteToMig: 'gpulint/rewriteToMig',
  /** The parts of a GPU on which the model of the request at a position fits. */
  fractions: 'gpulint/fractions',
  /** The edit that requests one of them instead. */
  rewriteToFraction: 'gpulint/rewriteToFraction',
  /** The edit that writes a GPU and other selected values into the config of a file. */
  setGpu: 'gpulint/setGpu',
  /** The rules with fixes in some files. */
  workspaceFixes: 'gpulint/workspaceFixes',
  /** The edit that applies fixes in some files. */
  fixWorkspace: 'gpulint/fixWorkspace',
  /** The cost of the workspace as a file. */
  costReport: 'gpulint/costReport',
  /** The ids of all rules. */
  ruleIds: 'gpulint/ruleIds',
  /** The platforms, and the regions with known prices. */
  platforms: 'gpulint/platforms',
  /** The rows of the costs of all files of the workspace, with their total. */
  workspaceCosts: 'gpulint/workspaceCosts',
  /** The same rows as the nodes of a tree, in words. */
  costTree: 'gpulint/costTree',
  /** Server to client, a notification: the last answer to one of these two requests may be outdated. Sent once for each answer. */
  costsChanged: 'gpulint/costsChanged',
} as const;

/** A key in the section `gpulint` with the origin of each setting, `user` or `workspace`, by its path. */
export const settingOrigins = '$origins';

export interface SummaryParams {
  readonly uri: string;
  /** null: the file requests no accelerators. */
  readonly summary: FileSummary | null;
}

export interface FileSummary {
  /** `3 GPUs $20.64/h`. */
  readonly text: string;
  /** One line per workload. */
  readonly tooltip: string;
  /** The text for screen readers. */
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
  /** Maximum number of files. */
  readonly limit: number;
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
  /** A file to list only models that its requests can mean, at its provider; all models if it requests none. */
  readonly uri?: string;
  /** Only the models of one key of the config. */
  readonly key?: ModelKey;
  /** The answers already given: prices are those of the provider and region. */
  readonly provider?: string | null;
  readonly region?: string | null;
}
/** The keys of the config with the default model of each kind of accelerator. */
export type ModelKey = 'gpu' | 'neuron' | 'tpu' | 'gaudi';
export interface GpuItem {
  readonly id: string;
  /** The key under which the config names it. */
  readonly key: ModelKey;
  readonly name: string;
  /** Memory, price range. */
  readonly description: string;
  readonly providers: readonly ProviderItem[];
}
/** One provider of an accelerator, with its price of one device. */
export interface ProviderItem {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}
export interface GpusResult {
  readonly gpus: readonly GpuItem[];
  /** The provider whose prices apply, if the config names one: nobody needs to select it again. */
  readonly provider: string | null;
  /** If only GPUs are asked for: the keys for which an open file has a request without a model. */
  readonly keys: readonly ModelKey[];
}

export interface MigChoicesParams extends PlaceParams {
  /** The GPU that the user selected, if it is unknown from the file. */
  readonly gpu?: string;
}
export interface MigChoicesResult {
  /** The GPU to slice; null if the user must select it first. */
  readonly gpu: { readonly id: string; readonly name: string } | null;
  /** The GPUs to select from if the GPU is unknown. */
  readonly gpus: readonly GpuItem[];
  readonly profiles: readonly MigProfileItem[];
}
export interface MigProfileItem {
  readonly profile: string;
  /** Memory, share, dollars per hour. */
  readonly description: string;
}

export interface RewriteToMigParams extends PlaceParams {
  readonly gpu: string;
  readonly profile: string;
}

export interface FractionsResult {
  readonly title: string;
  readonly fractions: readonly FractionItem[];
}
export interface FractionItem {
  readonly id: string;
  readonly label: string;
  /** What it holds, and dollars per hour. */
  readonly description: string;
  /** What the nodes need for it; null: they offer it. */
  readonly needs: string | null;
}

export interface RewriteToFractionParams extends PlaceParams {
  readonly id: string;
}

export interface SetGpuParams {
  /** Any file whose config to change; null: the user's settings. */
  readonly uri: string | null;
  /** Values that are null or absent are not written. */
  readonly gpu?: string | null;
  readonly neuron?: string | null;
  readonly tpu?: string | null;
  readonly gaudi?: string | null;
  readonly provider?: string | null;
  readonly platform?: string | null;
  readonly region?: string | null;
  readonly capacity?: string | null;
}

export interface WorkspaceFixesParams {
  /** The files to look at. */
  readonly uris: readonly string[];
}
/** The fixable findings of one rule. */
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
  /** Empty if prices do not depend on the region. */
  readonly regions: readonly string[];
}
export type PlatformsResult = readonly PlatformItem[];

/** An edit to apply, or a sentence that says why it cannot be made. */
export type EditResult = { readonly edit: WorkspaceEdit; readonly file?: string } | { readonly problem: string };

/** For a file in no folder, the user's settings to write instead. */
export type SetGpuResult = EditResult | { readonly settings: readonly SettingValue[] };

export interface SettingValue {
  /** Below `gpulint`. */
  readonly key: string;
  readonly value: string;
}

/** Arguments of the commands that lenses and code actions carry. */
export interface PlaceArgument {
  readonly uri: string;
  readonly range: Range;
}
