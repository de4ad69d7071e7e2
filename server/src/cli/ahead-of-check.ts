import { judgeTogether } from '../analysis/judge.ts';
import type { Analysis, FileAnalysis } from '../analysis.ts';
import type { ProjectConfig } from '../config.ts';
import { mayInstallCharts } from '../model/chart-installs.ts';
import type { RelatedFilesSource } from '../workspace/find-related-files.ts';
import { release } from './check-file.ts';
import type { FileContent } from './file-content.ts';

/** The documents of longer files are checked together anyway, and keep their objects the shorter, the fewer other files wait with them. */
const maxCharacters = 20_000;

/** Files whose findings are found together, before each of them is checked. */
export class AheadOfCheck {
  readonly #analysis: Analysis;
  readonly #related: RelatedFilesSource;
  readonly #held: Set<string>;
  readonly #files: FileAnalysis[] = [];

  /** @param held gets the files, which their checks leave in the analysis until `release` */
  constructor(analysis: Analysis, related: RelatedFilesSource, held: Set<string>) {
    this.#analysis = analysis;
    this.#related = related;
    this.#held = held;
  }

  async open(uri: string, content: FileContent, config: ProjectConfig): Promise<void> {
    if (content.kind !== 'text' || content.text.length > maxCharacters) return;
    const relatedFiles = await this.#related.of(uri, mayInstallCharts(content.text));
    this.#analysis.setConfig(config);
    this.#files.push(this.#analysis.setFile(uri, content.text, 0, undefined, relatedFiles));
    this.#held.add(uri);
  }

  judge(): void {
    judgeTogether(this.#files);
  }

  release(): void {
    for (const { uri } of this.#files) {
      this.#held.delete(uri);
      release(this.#analysis, this.#related, uri);
    }
  }
}
