import type { Location } from 'vscode-languageserver';
import { definitions, type FilePlace } from '../features/navigation/definitions.ts';
import { references } from '../features/navigation/references.ts';
import type { ConfinedHost } from './confined-host.ts';
import { guard } from './guard.ts';
import { type LineIndex, lineIndex, linesOf } from './line-index.ts';
import type { Session } from './session.ts';

/** Go to definition and find references, between objects and inside a file. */
export function registerNavigation(
  { connection, documents, projects, log, analyzed }: Session,
  host: ConfinedHost,
): void {
  const { workspace } = projects.analysis;

  connection.onDefinition(
    guard(log, 'definition', null, async ({ textDocument, position }) => {
      const found = await analyzed(textDocument.uri);
      if (found === undefined) return null;
      return locations(definitions(workspace, found.file, linesOf(found.file).fromPosition(position)));
    }),
  );

  connection.onReferences(
    guard(log, 'references', null, async ({ textDocument, position, context }) => {
      const found = await analyzed(textDocument.uri);
      if (found === undefined) return null;
      const offset = linesOf(found.file).fromPosition(position);
      return locations(references(workspace, found.file, offset, context.includeDeclaration));
    }),
  );

  async function locations(places: readonly FilePlace[]): Promise<Location[]> {
    const lines = new Map<string, LineIndex | undefined>();
    for (const { uri } of places) if (!lines.has(uri)) lines.set(uri, await linesAt(uri));
    return places.flatMap(({ uri, span }) => {
      const index = lines.get(uri);
      return index === undefined ? [] : [{ uri, range: index.toRange(span) }];
    });
  }

  /** The line index of a file's current text. An open document takes precedence over the disk. */
  async function linesAt(uri: string): Promise<LineIndex | undefined> {
    const text = documents.get(uri)?.getText() ?? (await host.readFile(uri));
    return text === undefined ? undefined : lineIndex(text);
  }
}
