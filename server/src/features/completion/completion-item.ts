import type { Span } from '../../yaml/span.ts';

/** Something that could stand at the caret. */
export interface Completion {
  readonly label: string;
  readonly kind: 'key' | 'value' | 'resource' | 'snippet' | 'rule';
  /** Beside the label: what it is, what it costs. */
  readonly detail: string;
  /** Replaces `span` of the file; `${1:...}` are places to fill in. */
  readonly insert: string;
  readonly span: Span;
  /** Of equal words the lower one comes first. */
  readonly rank: number;
}

/** A word that could be written, before it is known how. */
export interface Word {
  readonly text: string;
  readonly detail: string;
  /** For keys: what is written behind the colon. */
  readonly value?: string;
  readonly rank?: number;
  readonly kind?: Completion['kind'];
}
