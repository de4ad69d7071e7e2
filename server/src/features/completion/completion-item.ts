import type { Span } from '../../yaml/span.ts';

/** A completion at the caret. */
export interface Completion {
  readonly label: string;
  readonly kind: 'key' | 'value' | 'resource' | 'snippet' | 'rule';
  /** Next to the label: what it is, what it costs. */
  readonly detail: string;
  /** Replaces `span` of the file; `${1:...}` are snippet placeholders. */
  readonly insert: string;
  readonly span: Span;
  /** Lower ranks come first. */
  readonly rank: number;
}

/** A word to complete, not yet formatted as a key or a value. */
export interface Word {
  readonly text: string;
  readonly detail: string;
  /** For keys: the text after the colon. */
  readonly value?: string;
  readonly rank?: number;
  readonly kind?: Completion['kind'];
}
