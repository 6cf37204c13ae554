import { objectIn } from '#lib/core/families/reading/json';
import {
  describedLimits,
  type Fate,
  type FieldTable,
  sampled,
  strictIfPossible,
  temperatureOfAnthropic,
} from '#lib/core/translation/fates';
import { storedFile } from '#lib/core/translation/generate-content/parts';
import { inBothSpellings } from '#lib/core/translation/generate-content/spellings';

const carried: Fate = { is: 'carried' };
const whole: Fate = { is: 'carried', opaque: true };
const lost: Fate = { is: 'lost' };

function lostUnless(...same: readonly unknown[]): Fate {
  return { is: 'lost', harmless: (value) => same.includes(value) };
}

/** @param harmless whether the loss of a value changes nothing. */
function refused(why: string, harmless?: (value: unknown) => boolean): Fate {
  return harmless ? { is: 'refused', why, harmless } : { is: 'refused', why };
}

function approximated(how: string): Fate {
  return { is: 'approximated', how, opaque: true };
}

/** A media type of which the text is taken, or that the target reads. */
function mediaType(target: string, reads: RegExp): Fate {
  return refused(
    `Models of ${target} do not read files of this type; send ${reads.test('audio/wav') ? 'pictures, PDFs, audio (WAV, MP3)' : 'pictures, PDFs'} or text.`,
    (value) => typeof value === 'string' && (value.startsWith('text/') || reads.test(value)),
  );
}

const mediaTypes = {
  rest: mediaType('this protocol', /^(image\/|application\/pdf$)/),
  chat: mediaType('chat', /^(image\/|application\/pdf$|audio\/(x-)?(wav|mp3|mpeg)$)/),
};

/** Files in the message, or in the response of a function. */
function fileFields(path: string): FieldTable {
  return {
    [`${path}.inlineData`]: carried,
    [`${path}.inlineData.mimeType`]: mediaTypes,
    [`${path}.inlineData.data`]: carried,
    [`${path}.inlineData.displayName`]: carried,
    [`${path}.mediaProcessing`]: lost,
    [`${path}.fileData`]: carried,
    [`${path}.fileData.displayName`]: lost,
    [`${path}.fileData.mimeType`]: mediaTypes,
    [`${path}.fileData.fileUri`]: refused(
      'Only Google can read files that it stores; send inlineData, or a URL that everyone can read.',
      (value) => typeof value === 'string' && !storedFile.test(value),
    ),
  };
}

const thinking = approximated('kept for models of the maker that signed it');
const unknownTool = "This tool of Google's models has no counterpart; declare a function instead.";
const schema = approximated('a JSON schema, without the order of properties');
const answerSchema = { rest: strictIfPossible, messages: describedLimits };
const isEmpty = (value: unknown) => Object.keys(objectIn(value) ?? {}).length === 0;
const isFalse = (value: unknown) => value === false;

/** What becomes of each field of a generateContent request, in both spellings (docs/decisions/translation.md). */
export const fields: FieldTable = inBothSpellings({
  model: carried,
  contents: carried,
  'contents[].role': carried,
  'contents[].parts': carried,
  'contents[].parts[].text': carried,
  'contents[].parts[].thought': thinking,
  'contents[].parts[].thoughtSignature': thinking,
  ...fileFields('contents[].parts[]'),
  'contents[].parts[].mediaResolution': lost,
  'contents[].parts[].videoMetadata': lost,
  'contents[].parts[].audioTranscription': lost,
  'contents[].parts[].speechMetadata': lost,
  'contents[].parts[].partMetadata': lost,
  'contents[].parts[].executableCode': lost,
  'contents[].parts[].codeExecutionResult': lost,
  'contents[].parts[].toolCall': lost,
  'contents[].parts[].toolResponse': lost,
  'contents[].parts[].functionCall': carried,
  'contents[].parts[].functionCall.id': carried,
  'contents[].parts[].functionCall.name': carried,
  'contents[].parts[].functionCall.args': whole,
  'contents[].parts[].functionCall.partialArgs': refused(
    'Only Google reads arguments in pieces; send "args".',
  ),
  'contents[].parts[].functionCall.willContinue': refused(
    'Only Google reads calls in pieces; send "args".',
    isFalse,
  ),
  'contents[].parts[].functionResponse': carried,
  'contents[].parts[].functionResponse.id': carried,
  'contents[].parts[].functionResponse.name': carried,
  'contents[].parts[].functionResponse.response': approximated(
    '"output", "result" or "content" in it is the result, "error" is an error; any other object is JSON',
  ),
  'contents[].parts[].functionResponse.parts': carried,
  ...fileFields('contents[].parts[].functionResponse.parts[]'),
  'contents[].parts[].functionResponse.scheduling': lost,
  'contents[].parts[].functionResponse.willContinue': refused(
    'Only Google takes the response of a function in pieces; send it as a whole.',
    isFalse,
  ),
  systemInstruction: carried,
  'systemInstruction.role': carried,
  'systemInstruction.parts': carried,
  'systemInstruction.parts[].text': carried,
  tools: carried,
  'tools[].functionDeclarations': carried,
  'tools[].functionDeclarations[].name': carried,
  'tools[].functionDeclarations[].description': carried,
  'tools[].functionDeclarations[].parameters': schema,
  'tools[].functionDeclarations[].parametersJsonSchema': whole,
  'tools[].functionDeclarations[].behavior': lostUnless('UNSPECIFIED', 'BLOCKING'),
  'tools[].functionDeclarations[].response': lost,
  'tools[].functionDeclarations[].responseJsonSchema': lost,
  'tools[].googleSearch': {
    rest: approximated("the provider's own search, without Google's filters"),
    chat: refused(unknownTool),
  },
  'tools[].googleSearchRetrieval': refused(unknownTool),
  'tools[].enterpriseWebSearch': refused(unknownTool),
  'tools[].googleMaps': refused(unknownTool),
  'tools[].codeExecution': refused(unknownTool),
  'tools[].urlContext': refused(unknownTool),
  'tools[].fileSearch': refused(unknownTool),
  'tools[].retrieval': refused(unknownTool),
  'tools[].computerUse': refused(unknownTool),
  'tools[].mcpServers': refused(unknownTool),
  'tools[].exaAiSearch': refused(unknownTool),
  'tools[].parallelAiSearch': refused(unknownTool),
  toolConfig: carried,
  'toolConfig.functionCallingConfig': carried,
  'toolConfig.functionCallingConfig.mode': {
    rest: approximated('VALIDATED is AUTO'),
    messages: approximated('VALIDATED is AUTO, and ANY too, named, for models that reject a forced tool'),
  },
  'toolConfig.functionCallingConfig.allowedFunctionNames': approximated('only these functions are declared'),
  'toolConfig.functionCallingConfig.streamFunctionCallArguments': lostUnless(false),
  'toolConfig.retrievalConfig': lost,
  'toolConfig.includeServerSideToolInvocations': lostUnless(false),
  generationConfig: carried,
  'generationConfig.maxOutputTokens': carried,
  'generationConfig.temperature': { rest: carried, responses: sampled, messages: temperatureOfAnthropic },
  'generationConfig.topP': { rest: carried, responses: sampled, messages: sampled },
  'generationConfig.topK': { rest: lost, messages: sampled },
  'generationConfig.seed': { rest: lost, chat: carried },
  'generationConfig.presencePenalty': { rest: lostUnless(0), chat: carried },
  'generationConfig.frequencyPenalty': { rest: lostUnless(0), chat: carried },
  'generationConfig.stopSequences': {
    rest: carried,
    responses: { is: 'lost', harmless: (value) => Array.isArray(value) && value.length === 0 },
  },
  'generationConfig.candidateCount': refused(
    'No other protocol answers with several candidates; send 1, or call several times.',
    (value) => value === 1,
  ),
  'generationConfig.responseMimeType': refused(
    'Answers are "text/plain" or "application/json"; ask for a string of an enum with a JSON schema.',
    (value) => value === 'text/plain' || value === 'application/json',
  ),
  'generationConfig.responseSchema': schema,
  'generationConfig.responseJsonSchema': answerSchema,
  'generationConfig._responseJsonSchema': answerSchema,
  'generationConfig.responseFormat': refused('Send responseMimeType and responseJsonSchema instead.'),
  'generationConfig.responseModalities': refused(
    'Only text can be translated; ask for ["TEXT"], or leave the field out.',
    (value) => Array.isArray(value) && value.every((one) => one === 'TEXT'),
  ),
  'generationConfig.speechConfig': refused('Only text can be translated; leave the field out.'),
  'generationConfig.imageConfig': refused('Only text can be translated; leave the field out.', isEmpty),
  'generationConfig.translationConfig': refused('Only Google translates speech; leave the field out.'),
  'generationConfig.responseLogprobs': refused(
    'Log probabilities are not translated; leave the field out.',
    isFalse,
  ),
  'generationConfig.logprobs': lost,
  'generationConfig.mediaResolution': lost,
  'generationConfig.audioTranscriptionConfig': lost,
  'generationConfig.modelSelectionConfig': lost,
  'generationConfig.routingConfig': lost,
  'generationConfig.enableEnhancedCivicAnswers': lostUnless(false),
  'generationConfig.enableAffectiveDialog': lostUnless(false),
  'generationConfig.audioTimestamp': lostUnless(false),
  'generationConfig.thinkingConfig': carried,
  'generationConfig.thinkingConfig.includeThoughts': carried,
  'generationConfig.thinkingConfig.thinkingBudget': approximated(
    'low effort up to 4,096 tokens, medium up to 16,384, else high; 0 is the least that the model can do; models of Anthropic that take a budget get it',
  ),
  'generationConfig.thinkingConfig.thinkingLevel': approximated('the closest effort that the model has'),
  safetySettings: lost,
  labels: lost,
  generationOutputConfig: refused('Only Google writes answers to a storage; leave the field out.'),
  serviceTier: lostUnless('unspecified', 'standard'),
  store: lostUnless(false),
  cachedContent: refused('Cached content is kept by its provider; send the content itself.'),
  continuationToken: refused('Only its own provider can go on with an answer; send the conversation.'),
  modelArmorConfig: refused('Only Google has Model Armor; leave the field out.'),
});
