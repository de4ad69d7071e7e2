import type { ProjectConfig } from '../config.ts';
import type { FitFacts, FitQuestion } from '../fleet/fit-question.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import type { RelatedFiles } from '../model/related-files.ts';
import { lazy } from '../yaml/lazy.ts';
import { Asks, clusterKinds } from './asks.ts';
import { crossReferencesOf } from './document-references.ts';
import { type Reads, recordReads } from './reads.ts';
import type { FileContext, Workspace } from './workspace.ts';

/** Everything outside its text that the analysis of a document can look up. Each lookup is recorded with its result. */
export interface Lookups {
  /** Facts from other documents. */
  readonly crossReferences: CrossReferences;
  readonly config: ProjectConfig;
  readonly isConnected: () => boolean;
  /** Whether pods would run in the connected cluster; undefined without one, and until it has answered. */
  readonly askFit: (question: FitQuestion) => FitFacts | undefined;
  /** The related files of this one, recorded on first use. */
  readonly relatedFiles: () => RelatedFiles;
  readonly reads: Reads;
}

/** @param context returns the current context of the file */
export function lookupsOf(workspace: Workspace, uri: string, context: () => FileContext): Lookups {
  const { reads, recorder } = recordReads(workspace);
  const asks = new Asks(workspace, uri, recorder);
  return {
    crossReferences: crossReferencesOf(asks),
    isConnected: () => asks.isConnected(),
    askFit: (question) =>
      asks.read(clusterKinds, ['fit', JSON.stringify(question)], () => {
        const answer = workspace.cluster?.answer(question);
        if (answer === undefined) return undefined;
        // The time alone changes nothing.
        const { asOf: _asOf, ...facts } = answer;
        return facts;
      }),
    config: recorder.lookUpFile('config', () => context().config),
    relatedFiles: lazy(() => recorder.lookUpFile('relatedFiles', () => context().relatedFiles)),
    reads,
  };
}
