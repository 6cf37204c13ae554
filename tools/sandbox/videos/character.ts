import { Collection, type ProviderMemory } from '#tools/sandbox/content/memory';
import { type Opened, type ReceivedRequest, whole } from '#tools/sandbox/dialect';
import { missingParameter, ProviderFault } from '#tools/sandbox/scenario/provider-fault';
import { readForm } from '#tools/sandbox/wire/read-form';

interface Character {
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
}

const characters = new Collection<Character>();
const path = /^\/videos\/characters(?:\/([^/]+))?$/;

export function handlesCharacter(method: string, asked: string): boolean {
  const [found, id] = path.exec(asked) ?? [];
  return found !== undefined && method === (id === undefined ? 'POST' : 'GET');
}

/** Makes a character from a video, or reads one. @throws ProviderFault 404 for an unknown id. */
export function openCharacter(seen: ReceivedRequest, memory: ProviderMemory): Opened {
  const [, written] = path.exec(seen.path) ?? [];
  const opened = { model: 'film', asked: 'film', stream: false, prompt: '' };
  if (written !== undefined) {
    const character = characters.find(memory, decodeURIComponent(written));
    if (!character) throw new ProviderFault(404, 'Character not found.', null, 'character_id');
    return { ...opened, answer: () => whole(character) };
  }
  const form = readForm(seen);
  const name = form?.texts.get('name');
  if (!name) throw missingParameter('name');
  if (!form?.files.some((file) => file.name === 'video')) throw missingParameter('video');
  return {
    ...opened,
    answer: () => {
      const created = Math.floor(seen.atMs / 1000);
      const character = { id: `char_${seen.id.slice(4)}`, name, created_at: created };
      characters.put(memory, character.id, character);
      return whole(character);
    },
  };
}
