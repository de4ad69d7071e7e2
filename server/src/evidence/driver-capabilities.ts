import { imageParts } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from '../command/name-words.ts';
import type { Container } from '../model/workload.ts';

/** A capability of the driver that a program needs, and what it cannot do without. */
export interface LackingCapability {
  readonly capability: string;
  readonly program: string;
  readonly purpose: string;
}

/** Programs by a word of their image's name. NVENC and NVDEC need video; Vulkan, OpenGL and ray tracing need graphics. Read 2026-11-28. */
const needs = [
  {
    capability: 'video',
    purpose: 'encode or decode video',
    programs: wordSet(
      'jellyfin plex pms emby embyserver tdarr unmanic fileflows frigate handbrake ffmpeg viseron go2rtc ersatztv tunarr owncast',
    ),
  },
  {
    capability: 'graphics',
    purpose: 'render',
    programs: wordSet('omniverse unreal carla gazebo webots isaacsim isaaclab isaac-sim isaac-lab'),
  },
];

/** What encoders and decoders are called on command lines. */
const codecs = /nvenc|cuvid|nvdec/;

/** The capability that a list of them lacks for the program of a container; undefined if none is certainly missing. */
export function lackingCapability(value: string, container: Container): LackingCapability | undefined {
  const parts = value.split(',').map((part) => part.trim());
  if (parts.includes('all')) return undefined;
  const { repository } = imageParts(container.image?.value ?? container.repository ?? '');
  const name = repository.slice(repository.lastIndexOf('/') + 1);
  const words = wordsOf(name);
  const found =
    needs.find(({ programs }) => programs.has(name) || words.some((word) => programs.has(word))) ??
    ([...container.command, ...container.args].some((one) => codecs.test(one.value)) ? needs[0] : undefined);
  if (found === undefined || parts.includes(found.capability) || words.includes('exporter')) return undefined;
  return { capability: found.capability, program: name, purpose: found.purpose };
}
