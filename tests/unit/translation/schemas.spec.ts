import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fields as contentFields } from '#lib/core/translation/generate-content/fields';
import { fields as messagesFields } from '#lib/core/translation/messages/fields';

/** The types of an official SDK are the published schema of its protocol. */
function typesOf(file: string): string {
  const url = new URL(`../../../node_modules/${file}`, import.meta.url);
  return readFileSync(url, 'utf8').replace(/\/\*\*.*?\*\//gs, '');
}

const messagesTypes = typesOf('@anthropic-ai/sdk/resources/messages/messages.d.ts');
const betaTypes = typesOf('@anthropic-ai/sdk/resources/beta/messages/messages.d.ts');
const contentTypes = typesOf('@google/genai/dist/genai.d.ts');

/** The fields of an interface or class, without those of objects inside it. */
function fieldsOf(types: string, name: string): string[] {
  const [, body = ''] = types.split(new RegExp(`export (?:declare )?(?:interface|class) ${name} \\{`));
  const names = [...body.slice(0, body.indexOf('\n}')).matchAll(/^ {4}(\w+)\??:/gm)].flatMap(
    ([, one]) => one ?? [],
  );
  if (names.length === 0) throw new Error(`no type ${name}`);
  return names;
}

describe('the table of what becomes of each field of messages', () => {
  it.each([
    ['MessageCreateParamsBase', ''],
    ['UserMessageParam', 'messages[].'],
    ['AssistantMessageParam', 'messages[].'],
    ['SystemMessageParam', 'messages[].'],
    ['TextBlockParam', 'messages[].content[].'],
    ['TextBlockParam', 'system[].'],
    ['ImageBlockParam', 'messages[].content[].'],
    ['Base64ImageSource', 'messages[].content[].source.'],
    ['URLImageSource', 'messages[].content[].source.'],
    ['FileImageSource', 'messages[].content[].source.'],
    ['DocumentBlockParam', 'messages[].content[].'],
    ['ContentBlockSource', 'messages[].content[].source.'],
    ['SearchResultBlockParam', 'messages[].content[].'],
    ['ThinkingBlockParam', 'messages[].content[].'],
    ['RedactedThinkingBlockParam', 'messages[].content[].'],
    ['ToolUseBlockParam', 'messages[].content[].'],
    ['ToolResultBlockParam', 'messages[].content[].'],
    ['ImageBlockParam', 'messages[].content[].content[].'],
    ['DocumentBlockParam', 'messages[].content[].content[].'],
    ['Tool', 'tools[].'],
    ['WebSearchTool20250305', 'tools[].'],
    ['ToolChoiceTool', 'tool_choice.'],
    ['ThinkingConfigEnabled', 'thinking.'],
    ['OutputConfig', 'output_config.'],
    ['JSONOutputFormat', 'output_config.format.'],
    ['Metadata', 'metadata.'],
  ])('names every field of %s', (name, prefix) => {
    expect(fieldsOf(messagesTypes, name).filter((field) => !(prefix + field in messagesFields))).toEqual([]);
  });

  it.each([
    ['MessageCreateParamsBase', ''],
    ['BetaOutputConfig', 'output_config.'],
    ['BetaTool', 'tools[].'],
  ])('names every field of %s of the beta', (name, prefix) => {
    const ofHeader = ['betas'];
    const missing = fieldsOf(betaTypes, name).filter((field) => !(prefix + field in messagesFields));
    expect(missing.filter((field) => !ofHeader.includes(field))).toEqual([]);
  });
});

describe('the table of what becomes of each field of generateContent', () => {
  it.each([
    ['Content', 'contents[].'],
    ['Part', 'contents[].parts[].'],
    ['FunctionResponseBlob', 'contents[].parts[].inlineData.'],
    ['FileData', 'contents[].parts[].fileData.'],
    ['FunctionCall', 'contents[].parts[].functionCall.'],
    ['FunctionResponse', 'contents[].parts[].functionResponse.'],
    ['FunctionResponsePart', 'contents[].parts[].functionResponse.parts[].'],
    ['GenerationConfig', 'generationConfig.'],
    ['ThinkingConfig', 'generationConfig.thinkingConfig.'],
    ['Tool', 'tools[].'],
    ['FunctionDeclaration', 'tools[].functionDeclarations[].'],
    ['ToolConfig', 'toolConfig.'],
    ['FunctionCallingConfig', 'toolConfig.functionCallingConfig.'],
  ])('names every field of %s', (name, prefix) => {
    expect(fieldsOf(contentTypes, name).filter((field) => !(prefix + field in contentFields))).toEqual([]);
  });

  it('names every field of the body that the SDK has in its settings', () => {
    const inConfig = new Set(fieldsOf(contentTypes, 'GenerationConfig'));
    const ofClient = ['httpOptions', 'abortSignal', 'automaticFunctionCalling', 'automaticContinuation'];
    const ofBody = fieldsOf(contentTypes, 'GenerateContentConfig').filter(
      (field) => !inConfig.has(field) && !ofClient.includes(field),
    );
    const missing = ofBody.filter(
      (field) => !(field in contentFields || `generationConfig.${field}` in contentFields),
    );
    expect(missing).toEqual([]);
  });
});
