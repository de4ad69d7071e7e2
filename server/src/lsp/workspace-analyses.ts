import type { Diagnostic, Range } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { FileAnalysis } from '../analysis.ts';
import { chartOf, chartOfRelease } from '../config/chart-places.ts';
import { isConfigUri, isWithin, normalizeUri } from '../config/places.ts';
import type { ProjectConfig } from '../config.ts';
import type { CostEstimate } from '../cost/types.ts';
import { type CostRow, costRow, fileName } from '../features/cost/cost-rows.ts';
import { priceBasis } from '../features/cost/price-basis.ts';
import { type FoundSaving, savingsIn } from '../features/cost-report/savings.ts';
import { runningWorkloads } from '../features/hover/gpu-words.ts';
import { mayInstallCharts } from '../model/chart-installs.ts';
import { mayConcernAccelerators } from '../model/concern.ts';
import { isKustomization } from '../model/kustomize/build.ts';
import type { RelatedFiles } from '../model/related-files.ts';
import { hasParts, partsIn } from '../workspace/find-related-files.ts';
import { isTerraform } from '../workspace/terraform.ts';
import { terraformKinds } from '../workspace/terraform-folders.ts';
import { manifestTextIn } from '../workspace/terraform-releases.ts';
import { fileDiagnostics } from './diagnostics.ts';
import { ignoreOutdated } from './guard.ts';
import { isOurs } from './initialize.ts';
import { linesOf } from './line-index.ts';
import type { Session } from './session.ts';
import type { AdviceForm } from './to-lsp.ts';

/** What remains of the analysis of a file. Its documents are not kept: a workspace has thousands of files. */
export interface KeptAnalysis {
  readonly uri: string;
  readonly hasAccelerators: boolean;
  readonly rows: readonly PlacedRow[];
  readonly estimates: readonly CostEstimate[];
  /** For a kustomization: the URIs of the files that contribute to its objects. */
  readonly parts?: ReadonlySet<string>;
  readonly installed?: readonly string[];
  /** Its findings, if they were requested. */
  readonly diagnostics?: readonly Diagnostic[];
  /** What its findings save, if that was requested. */
  readonly savings?: readonly PlacedSaving[];
}

export interface PlacedRow {
  readonly row: CostRow;
  readonly range: Range;
  /** Of its object, from 1. */
  readonly line: number;
  /** What its price is based on; undefined without a price. */
  readonly basis: string | undefined;
}

export interface PlacedSaving extends FoundSaving {
  readonly range: Range;
}

/** A file that may request accelerators. */
export interface KnownFile {
  readonly key: string;
  readonly uri: string;
  /** The document, if it is open. */
  readonly document: TextDocument | undefined;
}

/** The analyses of all files of the workspace, open or not. A file is analyzed again only if something that it depends on has changed. */
export interface WorkspaceAnalyses {
  /** Handles the text of a file on disk. @param text undefined if the file is gone or too large */
  read(uri: string, text: string | undefined): void;
  /** Handles deleted files and folders. @param uris normalized @returns whether any was known */
  deleted(uris: ReadonlySet<string>): boolean;
  /** Forgets all files: the folders have changed. */
  clear(): void;
  /** Releases the texts of files that were read but not yet analyzed. */
  releaseTexts(): void;
  /** The files of the folders, in the order in which they were found, and the open documents in them. */
  files(): readonly KnownFile[];
  /**
   * The current analysis; undefined if the file is ignored or unreadable.
   * @param advice how to report advice, if the diagnostics are needed
   * @param savings whether the savings are needed
   */
  update(file: KnownFile, advice?: AdviceForm, savings?: boolean): Promise<KeptAnalysis | undefined>;
}

interface OnDisk {
  readonly uri: string;
  /** Identifies the read. */
  readonly read: number;
  /** The text may install charts. */
  readonly installs: boolean;
  /** The text, until it is analyzed. */
  text: string | undefined;
}

/** What an analysis depends on besides its lookups. */
interface Kept {
  readonly analysis: KeptAnalysis;
  readonly stamp: string;
  readonly config: ProjectConfig;
  readonly relatedFiles: RelatedFiles;
  readonly advice: AdviceForm | undefined;
  readonly isCurrent: () => boolean;
}

/** Searching a longer text for the words that concern accelerators would hold up requests. It is searched when it is analyzed. */
const maxSearched = 100_000;
/** The characters that may wait for their analysis. Other texts are read again. */
const maxWaiting = 16_000_000;

/** @param released called for each file whose documents were analyzed and released */
export function createWorkspaceAnalyses(session: Session, released: () => void): WorkspaceAnalyses {
  const { projects, relatedFiles: related, host, documents } = session;
  const onDisk = new Map<string, OnDisk>();
  const kept = new Map<string, Kept>();
  let waiting = 0;
  let reads = 0;
  const names = new WeakMap<TextDocument, number>();
  let lastName = 0;

  function takeText(file: OnDisk | undefined): string | undefined {
    if (file?.text === undefined) return undefined;
    const { text } = file;
    waiting -= text.length;
    file.text = undefined;
    return text;
  }

  /** A document that is opened again starts over with its versions. */
  function nameOf(document: TextDocument): number {
    const known = names.get(document);
    if (known !== undefined) return known;
    lastName += 1;
    names.set(document, lastName);
    return lastName;
  }

  function forget(key: string): void {
    takeText(onDisk.get(key));
    onDisk.delete(key);
    kept.delete(key);
  }

  function clear(): void {
    onDisk.clear();
    kept.clear();
    waiting = 0;
  }

  async function update(
    { key, uri, document }: KnownFile,
    advice?: AdviceForm,
    savings = false,
  ): Promise<KeptAnalysis | undefined> {
    const file = onDisk.get(key);
    const values = isTerraform(uri) ? projects.analysis.workspace.stampOf(terraformKinds) : 0;
    const stamp =
      document === undefined ? `read ${file?.read} ${values}` : `open ${nameOf(document)} ${document.version}`;
    const config = await projects.configOf(uri);
    if (await projects.isIgnored(uri)) {
      takeText(file);
      kept.delete(key);
      return undefined;
    }
    const installs = document === undefined ? file?.installs === true : mayInstallCharts(document.getText());
    const relatedFiles = await related.relatedFilesOf(uri, installs);
    const before = kept.get(key);
    const isSame = before?.stamp === stamp && before.config === config && before.relatedFiles === relatedFiles;
    const hasSavings = before?.analysis.savings !== undefined;
    const isComplete = (advice === undefined || before?.advice === advice) && (hasSavings || !savings);
    if (isSame && isComplete && before.isCurrent()) return before.analysis;
    const found = await analyze(uri, document, file, { config, relatedFiles });
    if (found === undefined) {
      kept.delete(key);
      return undefined;
    }
    // What was needed once is needed again.
    const form = advice ?? before?.advice;
    const analysis = keep(found, relatedFiles, form, savings || hasSavings);
    kept.set(key, { analysis, stamp, config, relatedFiles, advice: form, isCurrent: found.isCurrent });
    return analysis;
  }

  async function analyze(
    uri: string,
    document: TextDocument | undefined,
    file: OnDisk | undefined,
    { config, relatedFiles }: Pick<Kept, 'config' | 'relatedFiles'>,
  ): Promise<FileAnalysis | undefined> {
    if (document !== undefined) {
      const updated = await session.update(uri).catch(ignoreOutdated);
      return updated?.file;
    }
    const waited = takeText(file);
    const read = waited ?? (await host.readFile(uri));
    released();
    const text = waited ?? (read && manifestTextIn(projects.analysis.workspace, uri, read));
    return text === undefined ? undefined : projects.analysis.peek(uri, text, config, relatedFiles, true);
  }

  return {
    read(uri, text) {
      const key = normalizeUri(uri);
      const before = onDisk.get(key);
      takeText(before);
      if (text === undefined || !mayConcern(uri, text)) {
        forget(key);
        return;
      }
      // What a file of Terraform creates also depends on the other files of its folder.
      const isKept = !isTerraform(uri) && waiting + text.length <= maxWaiting;
      if (isKept) waiting += text.length;
      reads += 1;
      // The first spelling of the URI stays, because the client knows the findings under it.
      onDisk.set(key, {
        uri: before?.uri ?? uri,
        read: reads,
        installs: mayInstallCharts(text),
        text: isKept ? text : undefined,
      });
    },
    deleted(uris) {
      const gone = [...onDisk.keys()].filter((key) => uris.has(key) || isWithin(key, uris));
      for (const key of gone) forget(key);
      return gone.length > 0;
    },
    clear,
    releaseTexts() {
      for (const file of onDisk.values()) takeText(file);
    },
    files() {
      const open = new Map(
        documents
          .all()
          .filter((one) => isOurs(one) && !isConfigUri(one.uri) && host.reaches(one.uri))
          .map((document) => [normalizeUri(document.uri), document]),
      );
      const closed = [...onDisk].filter(([key]) => !open.has(key));
      return [
        ...closed.map(([key, { uri }]) => ({ key, uri, document: undefined })),
        ...[...open].map(([key, document]) => ({ key, uri: document.uri, document })),
      ];
    },
    update,
  };
}

/** The results of an analysis, as plain values. */
function keep(
  file: FileAnalysis,
  related: RelatedFiles,
  advice: AdviceForm | undefined,
  savings: boolean,
): KeptAnalysis {
  const { uri, hasAccelerators } = file;
  const lines = linesOf(file);
  const running = runningWorkloads(file);
  const parts = hasParts(related) ? { parts: partsIn(related) } : {};
  return {
    uri,
    hasAccelerators,
    rows: running.map(({ workload, document }) => {
      const row = costRow(workload, document, fileName(uri), []);
      const { cost } = document.costOf(workload);
      const basis = cost === null ? undefined : priceBasis([cost]);
      return { row, range: lines.toRange(row.span), line: lines.toPosition(row.start).line + 1, basis };
    }),
    estimates: running.flatMap(({ workload, document }) => document.costOf(workload).cost ?? []),
    ...parts,
    ...(related.installed && { installed: related.installed }),
    ...(advice && { diagnostics: fileDiagnostics(file, advice) }),
    ...(savings && { savings: savingsIn(file).map((one) => ({ ...one, range: lines.toRange(one.span) })) }),
  };
}

/** Whether a file can have workloads with accelerators, also through its related files. */
function mayConcern(uri: string, text: string): boolean {
  if (text.length > maxSearched || isKustomization(uri) || chartOfRelease(uri) !== undefined) return true;
  if (mayInstallCharts(text)) return true;
  return mayConcernAccelerators(text) || (chartOf(uri) !== undefined && text.includes('.Values'));
}
