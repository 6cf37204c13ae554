import { describe, expect, it } from 'vitest';
import { readCatalogue } from '#lib/control/catalogue/files';
import { listPlaceOf } from '#lib/control/providers/fetch-list';
import { familiesAt, presets } from '#lib/control/providers/presets';
import type { Address } from '#lib/core/facts/snapshot';
import type { FamilyId } from '#lib/core/families/ids';
import { catalogueShape } from '#lib/core/schemas/catalogue';

const urlOf = ({ url }: { url: string | null }) => url ?? 'https://models.example.com';

describe('presets (contract: control-plane/add-provider)', () => {
  it.each(presets.map((preset) => [preset.id, preset] as const))(
    '%s makes a provider that a catalogue file could contain',
    (_, preset) => {
      const { id, name, credentialHeaders = {}, pricesFrom } = preset;
      const families = familiesAt(preset, urlOf(preset));
      const provider = { id, name, families, credentialHeaders, ...(pricesFrom && { pricesFrom }) };
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
      const place = listPlaceOf({ families, credentialHeaders });
      expect(place?.style).toBe(preset.list);
      const root = preset.url ?? `https://models.example.com${preset.path}`;
      expect(place?.url.href).toBe(`${root}/models`);
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
