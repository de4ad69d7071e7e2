import * as vscode from 'vscode';
import type { ConfigurationMiddleware } from 'vscode-languageclient';
import { settingOrigins } from '../../server/src/lsp/protocol.ts';

/** Adds the origin of each value (user or workspace) to the settings, so that hovers can show it. */
export const withOrigins: ConfigurationMiddleware = {
  async configuration(params, token, next) {
    const values = await next(params, token);
    if (!Array.isArray(values)) return values;
    return params.items.map(({ section, scopeUri }, index) => {
      const value: unknown = values[index];
      if (section !== 'gpulint' || typeof value !== 'object' || value === null) return value;
      const scope = scopeUri === undefined ? null : vscode.Uri.parse(scopeUri);
      return { ...value, [settingOrigins]: originsOf(value, scope) };
    });
  },
};

function originsOf(value: object, scope: vscode.Uri | null): Readonly<Record<string, string>> {
  const settings = vscode.workspace.getConfiguration('gpulint', scope);
  return Object.fromEntries(
    keysOf(value).flatMap((key) => {
      const found = settings.inspect(key);
      const isWorkspace = found?.workspaceFolderValue !== undefined || found?.workspaceValue !== undefined;
      if (!isWorkspace && found?.globalValue === undefined) return [];
      return [[key, isWorkspace ? 'workspace' : 'user']];
    }),
  );
}

/** `gpu`, `training.stepSeconds`: settings have one or two levels. */
function keysOf(value: object): readonly string[] {
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? [key, ...Object.keys(inner).map((below) => `${key}.${below}`)]
      : [key],
  );
}
