import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import type { FlagMeaning } from '../../server/src/catalog/flag-records.ts';
import { imageOf } from '../../server/src/catalog/images.ts';
import { commandNamed, moduleNamed, scriptNamed } from '../../server/src/catalog/program-records.ts';
import { meaningOf } from '../../server/src/command/flag-meaning.ts';
import { readFlags } from '../../server/src/command/flags.ts';
import { modelServers } from '../../server/src/command/model-server.ts';
import { flagsFile, imagesFile, programsFile } from '../support/program-schema.ts';

function read<T extends z.ZodType>(name: string, file: T): z.output<T> {
  const path = new URL(`../../server/src/catalog/data/${name}.json`, import.meta.url);
  return file.parse(JSON.parse(readFileSync(path, 'utf8')));
}

const { programs } = read('programs', programsFile);
const { images } = read('images', imagesFile);
const { flags, variables, formats, families } = read('flags', flagsFile);

const flagNamed = (name: string) => {
  const [flag] = readFlags([{ text: `--${name}=1`, dynamic: false, item: 0, start: 0, end: name.length + 4 }]);
  if (flag === undefined) throw new Error(`${name} is no flag`);
  return flag;
};

describe('each name is written once', () => {
  test.each([
    ['programs', programs.map(({ as, name }) => `${as} ${name}`)],
    ['images', images.map(({ image }) => image)],
    ['flags', flags.map(({ flag, means, of }) => `${flag} ${means} ${of ?? ''}`)],
    ['variables', variables.map(({ variable, means }) => `${variable} ${means}`)],
    ['formats', formats.map(({ format }) => format)],
  ])('%s', (_, names) => {
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

test('most records have a source', () => {
  const records = [...programs, ...images, ...flags, ...variables, ...formats];
  const unsourced = records.filter(({ source }) => source === 'unsourced');
  expect(unsourced.length / records.length).toBeLessThan(0.1);
});

describe('each record is found by its own name', () => {
  test('programs', () => {
    const lost = programs.filter(({ as, name }) => {
      const [first = '', second] = name.split(' ');
      const found =
        as === 'command' ? commandNamed(first, second) : as === 'module' ? moduleNamed(name) : scriptNamed(name);
      return found?.name !== name;
    });
    expect(lost.map(({ name }) => name)).toEqual([]);
  });

  test('images', () => {
    const lost = images.filter(({ image }) => {
      const name = image.replace(/^\*-/, 'any-').replace(/-\*(?=\/?$)/, '-more');
      const found = imageOf(`registry.example/team/${name.endsWith('/') ? `${name}image` : name}`);
      return found === undefined || !('image' in found) || found.image !== image;
    });
    expect(lost.map(({ image }) => image)).toEqual([]);
  });

  test('flags', () => {
    const lost = flags.filter(({ flag, means, of }) => {
      const name = flag.replace(/^\*\./, 'any.path.').replace(/-\*$/, '-more');
      const found = meaningOf(flagNamed(name), means, of?.[0]);
      return found === undefined || !('flag' in found) || found.flag !== flag;
    });
    expect(lost.map(({ flag }) => flag)).toEqual([]);
  });
});

test('a flag in a family has its own record only if that has more fields', () => {
  const doubled = flags.filter(({ flag, means, unit, off, value, of }) => {
    if ((unit ?? off ?? value ?? of) !== undefined || /\*/.test(flag)) return false;
    return families.some((family) => {
      const words = flag.split('-');
      const known = [...family.every.flat(), ...family.fill];
      return (
        family.means === means &&
        words.every((word) => known.includes(word)) &&
        family.every.every((group) => group.some((word) => words.includes(word)))
      );
    });
  });
  expect(doubled.map(({ flag }) => flag)).toEqual([]);
});

describe('families', () => {
  test.each(families.flatMap(({ means, spellings }) => spellings.map(([name]) => [means, name] as const)))(
    '%s: %s, which a program has',
    (means, name) => {
      expect(meaningOf(flagNamed(name), means as FlagMeaning)).toHaveProperty('every');
    },
  );

  test('consist of lower-case words, each in one place', () => {
    for (const { every, fill, never } of families) {
      const words = [...every.flat(), ...fill, ...never];
      expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
    }
  });
});

test('programs with flags, and servers with known flags, are in the catalog', () => {
  const known = new Set(programs.flatMap(({ name, program }) => [name, program, name.split(' ')[0]]));
  expect([...flags.flatMap(({ of }) => of ?? []), ...modelServers].filter((name) => !known.has(name))).toEqual([]);
});
