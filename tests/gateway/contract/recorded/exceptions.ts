import type { Usage, UsageSource } from '#lib/core/metering/usage';

/** Where recordings cannot be taken as the index states them, each with its reason, by file. */

/** Their sources kept no status; their bodies are errors. */
export const statuses: Readonly<Record<string, number>> = {
  'vercel-ai/generateContent/google__google-429-retry-info.json': 429,
  'vercel-ai/images/openai__gpt-image-response-format-error.json': 400,
};

/** Answered by the gateway itself (contract: families/model-lists), so there is nothing to relay. */
export const answeredHere: ReadonlySet<string> = new Set([
  'llm-gemini/models/test_gemini__test_cli_gemini_models.01.gemini.resp.json',
  'openai-openapi-examples/videos/videos_list.json',
]);

/** Answers that show a job, and answers to one who asks for a job: these need each other. */
export const jobs = {
  create: 'openai-openapi-examples/videos/videos_create.json',
  list: 'openai-openapi-examples/videos/videos_list.json',
  predict:
    'ruby_llm/videos/video_basic_functionality_gemini_veo-3_1-lite-generate-preview_can_animate_videos.01.gemini.resp.json',
  reads: [
    'ruby_llm/videos/video_basic_functionality_xai_grok-imagine-video_can_animate_videos.03.xai.resp.json',
    'ruby_llm/videos/video_basic_functionality_xai_grok-imagine-video_can_animate_videos.05.xai.resp.json',
  ],
} as const;

/** A vendor's own dialect of videos: what it creates has no id of the protocol, so nobody can follow it. */
export const unfollowed =
  'ruby_llm/videos/video_basic_functionality_xai_grok-imagine-video_can_animate_videos.01.xai.resp.json';

/** Their requests continue what was made outside of the gateway: nobody's here, 404. Asked in another way. */
export const asksForeignThings: ReadonlySet<string> = new Set([
  'pydantic-ai/generateContent/test_cache__test_google_model_cached_content.01.gemini.resp.json',
  'pydantic-ai/responses-compat/test_deepseek_responses__test_deepseek_responses_function_tool_stream_.02.deepseek.resp.sse',
]);

/** What answers tell besides tokens, which the index does not carry. */
export const besides: Readonly<Record<string, Partial<Usage>>> = {
  'pydantic-ai/generateContent/test_structured_output__test_native_output_with_builtin_tools_stream.01.gemini.resp.sse':
    { webSearches: 1 },
  'vercel-ai/responses/azure__azure-image-generation-tool.1.chunks.txt': { images: 1 },
  'vercel-ai/responses/openai__openai-image-generation-tool.1.chunks.txt': { images: 1 },
};

/** Audio stands beside the prompt and inside the total, so what the total has more is no hidden output. */
export const audioBeside: ReadonlySet<string> = new Set([
  'ruby_llm/chat-compat/chat_audio_models_mistral_voxtral-small-latest_can_understand_mp3_audio.01.mistral.resp.json',
]);

/** The provider itself broke off in a stream that it had begun with 200; what is known of its usage then. */
export const brokeOff: Readonly<Record<string, UsageSource>> = {
  'vercel-ai/responses/openai__openai-error.1.chunks.txt': 'none',
  'pydantic-ai/chat-compat/test_groq__test_tool_use_failed_error_streaming_with_text.01.groq.resp.sse':
    'estimated',
  'pydantic-ai/chat-compat/test_openrouter__test_openrouter_stream_error.01.openrouter.resp.sse': 'reported',
};

/** Answers of operations that the gateway does not have, given to the family's own: what it reads, it meters. */
export const ofOtherOperations: ReadonlySet<string> = new Set([
  'openai-openapi-examples/responses/responses_compact.json',
  'pydantic-ai/responses/test_openai_responses__test_responses_count_tokens.01.openai.resp.json',
]);
