import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { readCatalogue } from '#lib/control/catalogue/files';
import { listPlaceOf } from '#lib/control/providers/list-places';
import { familiesAt, type Preset, presets } from '#lib/control/providers/presets';
import type { Address } from '#lib/core/facts/snapshot';
import type { FamilyId } from '#lib/core/families/ids';
import { catalogueShape } from '#lib/core/schemas/catalogue';

const urlOf = ({ url, ownPath }: Preset) =>
  url ?? `https://models.example.com${ownPath ? '/v1/projects/p/locations/l' : ''}`;

describe('presets (contract: control-plane/add-provider)', () => {
  it.each(presets.map((preset) => [preset.id, preset] as const))(
    '%s makes a provider that a catalogue file could contain',
    (_, preset) => {
      const { id, name, credentialHeaders = {}, pricesFrom, auth, variants = {} } = preset;
      const families = familiesAt(preset, urlOf(preset));
      const more = { ...(pricesFrom && { pricesFrom }), ...(auth && { auth }), variants };
      const provider = { id, name, families, credentialHeaders, ...more };
      expect(catalogueShape.parse({ providers: [provider] }).providers[0]).toMatchObject({ families });
    },
  );

  it.each(presets.map((preset) => [preset.id, preset] as const))(
    '%s has its list of models where discovery looks for it',
    (_, preset) => {
      const addresses = Object.entries(familiesAt(preset, urlOf(preset))) as [FamilyId, string][];
      const families = new Map(
        addresses.map(([family, url]): [FamilyId, Address] => [
          family,
          { state: 'ready', url: new URL(url) },
        ]),
      );
      const credentialHeaders = new Map(Object.entries(preset.credentialHeaders ?? {})) as Map<
        FamilyId,
        never
      >;
      const { auth } = preset;
      const place = listPlaceOf({ families, credentialHeaders, ...(auth && { auth }) });
      expect(place?.style).toBe(preset.list);
      const root = preset.url ?? `https://models.example.com${preset.path}`;
      const atClouds: Partial<Record<Preset['list'], string>> = {
        bedrock: 'https://bedrock.us-east-1.amazonaws.com/foundation-models',
        vertex: 'https://models.example.com/v1beta1/publishers/google/models',
      };
      expect(place?.lists[0].url.href).toBe(atClouds[preset.list] ?? `${root}/models`);
    },
  );

  it('have the addresses and headers of the shipped catalogue', async () => {
    const { providers } = await readCatalogue('catalogue', ['sandbox.yaml']);
    for (const preset of presets) {
      const shipped = providers.find(({ id }) => id === preset.id);
      if (!shipped) continue;
      expect(familiesAt(preset, urlOf(preset)), preset.id).toMatchObject(
        Object.fromEntries(Object.entries(shipped.families).filter(([family]) => family in preset.families)),
      );
      expect(preset.credentialHeaders ?? {}, preset.id).toEqual(shipped.credentialHeaders);
      for (const family of ['chat', 'messages', 'responses', 'generate-content'])
        expect(family in preset.families, `${preset.id} ${family}`).toBe(family in shipped.families);
    }
  });

  it('make the same of a cloud as the shipped catalogue', async () => {
    const { providers } = await readCatalogue('catalogue', ['sandbox.yaml']);
    for (const [id, shippedId, url] of [
      ['vertex-ai', 'vertex', 'https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global'],
      ['amazon-bedrock', 'bedrock', 'https://bedrock-runtime.us-east-1.amazonaws.com'],
    ]) {
      const preset = presets.find((one) => one.id === id);
      const shipped = providers.find((one) => one.id === shippedId);
      if (!preset || !shipped || !url) throw new Error(`${id} is missing`);
      const { auth, variants, credentialHeaders = {}, pricesFrom } = preset;
      expect({ auth, variants, credentialHeaders, pricesFrom }).toEqual({
        auth: shipped.auth,
        variants: shipped.variants,
        credentialHeaders: shipped.credentialHeaders,
        pricesFrom: shipped.pricesFrom,
      });
      // The guide says what the variables of the shipped provider contain.
      const guide = await readFile('docs/guide/clouds.md', 'utf8');
      for (const [family, address] of Object.entries(familiesAt(preset, url))) {
        const given = Object.entries(shipped.families).find(([name]) => name === family)?.[1];
        const variable = typeof given === 'object' ? given.env : '';
        expect(guide).toContain(`${variable}=${address}\n`);
      }
    }
  });

  it('give an address without a path that of the preset, and keep any other', () => {
    const ollama = presets.find(({ id }) => id === 'ollama');
    const deepseek = presets.find(({ id }) => id === 'deepseek');
    if (!ollama || !deepseek) throw new Error('the presets are missing');
    expect(familiesAt(ollama, 'http://gpu-1:11434').chat).toBe('http://gpu-1:11434/v1');
    expect(familiesAt(ollama, 'http://gpu-1:11434/').chat).toBe('http://gpu-1:11434/v1');
    expect(familiesAt(ollama, 'https://proxy.example.com/ollama/v1/').chat).toBe(
      'https://proxy.example.com/ollama/v1',
    );
    expect(familiesAt(deepseek, 'https://eu.example.com/v1')).toEqual({
      chat: 'https://eu.example.com/v1',
      responses: 'https://eu.example.com',
      messages: 'https://eu.example.com/anthropic/v1',
    });
  });
});
