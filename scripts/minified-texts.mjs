// The style and the script of the report are texts of TypeScript modules, so the bundler does not shorten them by itself.
import { readFileSync } from 'node:fs';
import { transform } from 'esbuild';

/** @type {import('esbuild').Plugin} */
export const minifiedTexts = {
  name: 'minified-texts',
  setup(build) {
    if (build.initialOptions.minify !== true) return;
    build.onLoad({ filter: /[\\/]cost-report[\\/]page-(?:script|style)\.ts$/ }, async ({ path }) => {
      const source = readFileSync(path, 'utf8');
      // The only value of the module, without substitutions; its only escapes are those of backslashes.
      const [, name, written] = /^export const (\w+) = `((?:[^`$]|\$(?!\{))+)`;$/m.exec(source) ?? [];
      const text = written?.replaceAll('\\\\', '\\');
      if (text === undefined) throw new Error(`${path} must export one text without substitutions`);
      const loader = path.endsWith('style.ts') ? 'css' : 'js';
      const { code } = await transform(text, { loader, minify: true, target: loader === 'js' ? 'es2022' : undefined });
      return { contents: `export const ${name} = ${JSON.stringify(code.trim())};`, loader: 'js' };
    });
  },
};
