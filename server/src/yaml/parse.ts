import type { YamlFile } from './node.ts';
export declare function parseYaml(text: string): YamlFile;
