import type {AttachKeys} from '../schema/config-hooks.ts'

/** A config of the documentation. A test attaches each, and runs it. */
export interface Example {
  readonly title: string
  readonly about: string
  readonly config: AttachKeys
}

/** One for each way in which a guardrail can run. */
export const EXAMPLES: readonly Example[] = [
  {
    title: 'Report',
    about: 'The call continues with any verdict. A failure returns 246 and adds feedback.',
    config: {
      input_guardrails: [
        {
          'default.wordCount': {minWords: 1, maxWords: 400},
          on_fail: {feedback: {value: -3, weight: 0.5}},
          on_success: {feedback: {value: 1}},
        },
      ],
    },
  },
  {
    title: 'Deny',
    about: 'A call with another model or another tool name ends with 446. No provider is called.',
    config: {
      before_request_hooks: [
        {
          type: 'guardrail',
          id: 'house-rules',
          deny: true,
          checks: [
            {id: 'default.modelWhitelist', parameters: {models: ['gpt-4o-mini', 'claude-sonnet-4-5']}},
            {
              id: 'default.requestParametersCheck',
              parameters: {tools: {allowedFunctionNames: ['look_up_order']}, params: {blockedKeys: ['logit_bias']}},
            },
          ],
        },
      ],
    },
  },
  {
    title: 'Fail closed',
    about: 'If the service does not respond, the call is also denied.',
    config: {
      input_guardrails: [
        {webhook: {webhookURL: 'https://guard.example.com/judge', timeout: 1500, failOnError: true}, deny: true},
      ],
    },
  },
  {
    title: 'Redact',
    about:
      'The provider never sees the matching text. With `sequential` the second check reads the result of the first.',
    config: {
      input_guardrails: [
        {
          sequential: true,
          'default.regexReplace': {rule: '/[\\w.+-]+@[\\w-]+(\\.[\\w-]+)+/g', redactText: '[EMAIL]'},
          numbers: {id: 'default.regexReplace', rule: '/\\b\\d{3}-\\d{2}-\\d{4}\\b/g', redactText: '[NUMBER]'},
        },
      ],
    },
  },
  {
    title: 'In the background',
    about: 'The call does not wait. The verdict appears in the log.',
    config: {output_guardrails: [{async: true, contains: {words: ['guarantee', 'promise'], operator: 'none'}}]},
  },
  {
    title: 'Rewrite',
    about: 'A mutator changes the request and always passes.',
    config: {input_mutators: [{addPrefix: {prefix: 'Answer in one paragraph. ', applyToRole: 'system'}}]},
  },
  {
    title: 'Answers: after the stream',
    about:
      'A streamed response is checked when its client has all of it, so it cannot be denied. The verdict is in the log, and with the header `x-gateway-strict-open-ai-compliance: false` it is also sent at the end of the stream. A response that is not streamed is denied.',
    config: {
      output_guardrails: [{jsonKeys: {keys: ['name', 'price'], operator: 'all'}, stream_mode: 'after', deny: true}],
    },
  },
  {
    title: 'Answers: while they stream',
    about: 'The text is checked as it arrives and delayed by at most `stream_window_chars`. A denial ends the stream.',
    config: {
      output_guardrails: [
        {
          contains: {words: ['internal use only'], operator: 'none'},
          stream_mode: 'window',
          stream_window_chars: 200,
          deny: true,
        },
      ],
    },
  },
  {
    title: 'Answers: before they leave',
    about: 'No part of a streamed response is sent before the verdict.',
    config: {
      output_guardrails: [
        {regexMatch: {rule: '\\bsk-[A-Za-z0-9]{20,}\\b', not: true}, stream_mode: 'buffer', deny: true},
      ],
    },
  },
]
