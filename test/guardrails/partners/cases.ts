import type {JsonValue} from '../../../src/guardrails/json.ts'
import type {Side} from '../../../src/schema/guardrails.ts'

/** One check of a partner: how it is asked, and what its answers mean. From the partners' API documentation. */
export interface PartnerCase {
  readonly check: string
  readonly side: Side
  readonly parameters?: Readonly<Record<string, unknown>>
  readonly credentials: Readonly<Record<string, string>>
  readonly asked: {
    readonly host: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: JsonValue
  }
  readonly pass: JsonValue
  /** Of a check that may fail: the answer, and a part of what the explanation says of it. */
  readonly fail?: {readonly reply: JsonValue; readonly says?: string}
  readonly redact?: {
    readonly parameters?: Readonly<Record<string, unknown>>
    readonly reply: JsonValue
    readonly becomes: string
  }
  /** A credential without which it cannot judge. */
  readonly needs?: string
}

/** The call of every case: the request's messages and, on the output side, the answer. */
export const REQUEST = {
  model: 'model-a',
  messages: [
    {role: 'system', content: 'Be brief.'},
    {role: 'user', content: 'Write to ada@example.com'},
  ],
} as const
export const SAID = 'Write to ada@example.com'
export const ANSWER = 'Sent to ada@example.com'

const key = {apiKey: 'k-1'}
const BEARER = {authorization: 'Bearer k-1'}
const MESSAGES = [...REQUEST.messages]
const azure = {resourceName: 'res', apiKey: 'k-1'}
const AZURE = {host: 'res.cognitiveservices.azure.com', headers: {'ocp-apim-subscription-key': 'k-1'}}
/** `{"opaque":{"apex-url":"https://apex.acuvity.example"}}` */
const ACUVITY = `e30.${Buffer.from('{"opaque":{"apex-url":"https://apex.acuvity.example"}}').toString('base64url')}.c2ln`

const patronus = (name: string, evaluator: string, criteria?: string): PartnerCase => ({
  check: `patronus.${name}`,
  side: 'output',
  ...(name === 'custom' ? {parameters: {criteria}} : {}),
  credentials: key,
  asked: {
    host: 'api.patronus.ai',
    path: '/v1/evaluate',
    headers: {'x-api-key': 'k-1'},
    body: {
      evaluators: [{evaluator, explain_strategy: 'always', ...(criteria ? {criteria} : {})}],
      evaluated_model_input: SAID,
      evaluated_model_output: ANSWER,
    },
  },
  pass: {
    results: [
      {evaluator_id: evaluator, status: 'success', error_message: null, evaluation_result: {pass: true, score_raw: 1}},
    ],
  },
  fail: {reply: {results: [{error_message: null, evaluation_result: {pass: false, score_raw: 0}}]}},
  needs: 'apiKey',
})

const qualifire = (
  name: string,
  side: Side,
  body: Record<string, JsonValue>,
  parameters: Record<string, unknown> = {},
): PartnerCase => ({
  check: `qualifire.${name}`,
  side,
  parameters,
  credentials: key,
  asked: {
    host: 'proxy.qualifire.ai',
    path: '/api/evaluation/evaluate',
    headers: {'x-qualifire-api-key': 'k-1'},
    body: side === 'input' ? {input: SAID, ...body} : {input: SAID, output: ANSWER, ...body},
  },
  pass: {
    status: 'success',
    score: 100,
    evaluationResults: [{type: name, results: [{name, score: 100, label: 'SAFE', flagged: false}]}],
  },
  fail: {
    reply: {
      status: 'failed',
      score: 0,
      evaluationResults: [{type: name, results: [{name: 'unsafe-thing', flagged: true}]}],
    },
    says: 'unsafe-thing',
  },
  needs: 'apiKey',
})

const promptfoo = (name: string): PartnerCase => ({
  check: `promptfoo.${name}`,
  side: 'input',
  credentials: {},
  asked: {host: 'api.promptfoo.dev', path: `/v1/${name}`, headers: {}, body: {input: SAID}},
  pass: {model: `promptfoo-${name}`, results: [{categories: {jailbreak: false}, flagged: false}]},
  fail: {
    reply: {results: [{categories: {jailbreak: true, prompt_injection: false}, flagged: true}]},
    says: 'jailbreak',
  },
})

const own = (
  name: string,
  path: string,
  more: Pick<PartnerCase, 'parameters' | 'pass' | 'fail' | 'redact'>,
): PartnerCase => ({
  check: `gateway.${name}`,
  side: 'input',
  credentials: {...key, baseUrl: 'https://models.example/v1/'},
  asked: {host: 'models.example', path: `/v1/${path}`, headers: BEARER, body: {input: SAID}},
  needs: 'baseUrl',
  ...more,
})

export const PARTNER_CASES: readonly PartnerCase[] = [
  own('moderateContent', 'moderations', {
    parameters: {categories: ['hate']},
    pass: {results: [{flagged: true, categories: {hate: false, violence: true}}]},
    fail: {reply: {results: [{flagged: true, categories: {hate: true}}]}, says: 'hate'},
  }),
  own('language', 'language', {
    parameters: {language: 'en'},
    pass: [
      [
        {label: 'de', score: 0.1},
        {label: 'en', score: 0.9},
      ],
    ],
    fail: {
      reply: [
        {label: 'de', score: 0.8},
        {label: 'en', score: 0.2},
      ],
      says: 'de',
    },
  }),
  own('pii', 'pii', {
    pass: [{entities: [], processed_text: SAID}],
    fail: {
      reply: [{entities: [{text: 'ada@example.com', labels: {EMAIL_ADDRESS: 0.99}}], processed_text: 'x'}],
      says: 'EMAIL_ADDRESS',
    },
    redact: {
      parameters: {redact: true},
      reply: [
        {
          entities: [{text: 'ada@example.com', labels: {EMAIL_ADDRESS: 0.99}}],
          processed_text: 'Write to {{EMAIL_ADDRESS_1}}',
        },
      ],
      becomes: 'Write to {{EMAIL_ADDRESS_1}}',
    },
  }),
  own('gibberish', 'gibberish', {
    pass: [
      [
        {label: 'clean', score: 0.9},
        {label: 'noise', score: 0.1},
      ],
    ],
    fail: {reply: [[{label: 'noise', score: 0.9}]], says: 'noise'},
  }),
  {
    check: 'acuvity.scan',
    side: 'input',
    parameters: {prompt_injection: true, prompt_injection_threshold: 0.5, pii: true, pii_categories: ['email_address']},
    credentials: {apiKey: ACUVITY},
    asked: {
      host: 'apex.acuvity.example',
      path: '/_acuvity/scan',
      headers: {authorization: `Bearer ${ACUVITY}`},
      body: {anonymization: 'FixedSize', messages: [SAID], redactions: [], type: 'Input'},
    },
    pass: {extractions: [{data: SAID, exploits: {prompt_injection: 0.2}}]},
    fail: {reply: {extractions: [{data: SAID, exploits: {prompt_injection: 0.9}}]}, says: 'prompt_injection'},
    redact: {
      parameters: {pii: true, pii_redact: true, pii_categories: ['email_address']},
      reply: {extractions: [{data: 'Write to XXXXXX', PIIs: {email_address: 1}}]},
      becomes: 'Write to XXXXXX',
    },
    needs: 'apiKey',
  },
  {
    check: 'akto.scan',
    side: 'input',
    credentials: key,
    asked: {
      host: '1726615470-guardrails.akto.io',
      path: '/api/validate/request',
      headers: BEARER,
      body: {payload: JSON.stringify({prompt: SAID, model: 'model-a'})},
    },
    pass: {Allowed: true, Modified: false, ModifiedPayload: '', Reason: '', Metadata: {}},
    fail: {reply: {Allowed: false, Modified: false, ModifiedPayload: '', Reason: 'policy', Metadata: {}}},
    needs: 'apiKey',
  },
  {
    check: 'aporia.validateProject',
    side: 'output',
    parameters: {projectID: 'p-1'},
    credentials: key,
    asked: {
      host: 'gr-prd.aporia.com',
      path: '/p-1/validate',
      headers: {'x-aporia-api-key': 'k-1'},
      body: {messages: MESSAGES, response: ANSWER, validation_target: 'response', explain: true},
    },
    pass: {action: 'passthrough', revised_response: ANSWER, explain_log: []},
    fail: {reply: {action: 'block', revised_response: 'no', explain_log: []}, says: 'block'},
    needs: 'apiKey',
  },
  {
    check: 'aporia.validateProject',
    side: 'input',
    parameters: {projectID: 'p-1'},
    credentials: {...key, apiEndpoint: 'https://gr-prd-trial.aporia.com'},
    asked: {
      host: 'gr-prd-trial.aporia.com',
      path: '/p-1/validate',
      headers: {'x-aporia-api-key': 'k-1'},
      body: {messages: MESSAGES, validation_target: 'prompt', explain: true},
    },
    pass: {action: 'passthrough'},
    fail: {reply: {action: 'modify', revised_response: 'x'}, says: 'modify'},
  },
  {
    check: 'azure.contentSafety',
    side: 'input',
    parameters: {categories: ['Hate', 'Violence'], blocklistNames: ['names'], severity: 4},
    credentials: azure,
    asked: {
      ...AZURE,
      path: '/contentsafety/text:analyze?api-version=2024-09-01',
      body: {text: SAID, categories: ['Hate', 'Violence'], blocklistNames: ['names']},
    },
    pass: {
      blocklistsMatch: [],
      categoriesAnalysis: [
        {category: 'Hate', severity: 2},
        {category: 'Violence', severity: 0},
      ],
    },
    fail: {reply: {blocklistsMatch: [], categoriesAnalysis: [{category: 'Hate', severity: 4}]}, says: 'Hate'},
    needs: 'resourceName',
  },
  {
    check: 'azure.pii',
    side: 'output',
    credentials: azure,
    asked: {
      ...AZURE,
      path: '/language/:analyze-text?api-version=2024-11-01',
      body: {
        kind: 'PiiEntityRecognition',
        parameters: {domain: 'none', modelVersion: 'latest'},
        analysisInput: {documents: [{id: '0', language: 'en', text: ANSWER}]},
      },
    },
    pass: {
      kind: 'PiiEntityRecognitionResults',
      results: {documents: [{id: '0', redactedText: ANSWER, entities: []}], errors: []},
    },
    fail: {
      reply: {
        results: {
          documents: [
            {
              id: '0',
              redactedText: 'Sent to ***',
              entities: [{text: 'ada@example.com', category: 'Email', offset: 8, length: 15}],
            },
          ],
          errors: [],
        },
      },
      says: 'Email',
    },
    redact: {
      parameters: {redact: true},
      reply: {
        results: {
          documents: [{id: '0', redactedText: 'Sent to ***************', entities: [{category: 'Email'}]}],
          errors: [],
        },
      },
      becomes: 'Sent to ***************',
    },
    needs: 'apiKey',
  },
  {
    check: 'azure.shieldPrompt',
    side: 'input',
    credentials: azure,
    asked: {
      ...AZURE,
      path: '/contentsafety/text:shieldPrompt?api-version=2024-09-01',
      body: {userPrompt: SAID, documents: []},
    },
    pass: {userPromptAnalysis: {attackDetected: false}, documentsAnalysis: []},
    fail: {reply: {userPromptAnalysis: {attackDetected: true}, documentsAnalysis: []}, says: 'attack'},
  },
  {
    check: 'azure.protectedMaterial',
    side: 'output',
    credentials: azure,
    asked: {...AZURE, path: '/contentsafety/text:detectProtectedMaterial?api-version=2024-09-01', body: {text: ANSWER}},
    pass: {protectedMaterialAnalysis: {detected: false}},
    fail: {reply: {protectedMaterialAnalysis: {detected: true}}},
  },
  {
    check: 'bedrock.guard',
    side: 'input',
    parameters: {guardrailId: 'gr-1', guardrailVersion: 'DRAFT'},
    credentials: {awsAccessKeyId: 'AKIDEXAMPLE', awsSecretAccessKey: 'wJalrXUtnFEMI', awsRegion: 'eu-west-1'},
    asked: {
      host: 'bedrock-runtime.eu-west-1.amazonaws.com',
      path: '/guardrail/gr-1/version/DRAFT/apply',
      headers: {'x-amz-date': '20260131T000000Z'},
      body: {source: 'INPUT', content: [{text: {text: SAID}}]},
    },
    pass: {action: 'NONE', outputs: [], assessments: [{}], usage: {}},
    fail: {
      reply: {
        action: 'GUARDRAIL_INTERVENED',
        outputs: [{text: 'no'}],
        assessments: [{contentPolicy: {filters: [{type: 'HATE', confidence: 'HIGH', action: 'BLOCKED'}]}}],
      },
      says: 'HATE',
    },
    redact: {
      parameters: {guardrailId: 'gr-1', guardrailVersion: '3', redact: true},
      reply: {
        action: 'GUARDRAIL_INTERVENED',
        outputs: [{text: 'Write to {EMAIL}'}],
        assessments: [
          {
            sensitiveInformationPolicy: {
              piiEntities: [{type: 'EMAIL', match: 'ada@example.com', action: 'ANONYMIZED'}],
            },
          },
        ],
      },
      becomes: 'Write to {EMAIL}',
    },
    needs: 'awsSecretAccessKey',
  },
  {
    check: 'cato.analyze',
    side: 'input',
    parameters: {userEmail: 'u@example.com'},
    credentials: key,
    asked: {
      host: 'api.aisec.catonetworks.com',
      path: '/fw/v1/analyze',
      headers: {...BEARER, 'x-cato-call-id': 'trace-1', 'x-cato-user-email': 'u@example.com'},
      body: {messages: MESSAGES.map(({role, content}) => ({role, content: [{type: 'text', text: content}]}))},
    },
    pass: {analysis_result: {}, required_action: {action_type: 'monitor_action'}},
    fail: {reply: {required_action: {action_type: 'block_action', detection_message: 'no'}}, says: 'block'},
    redact: {
      reply: {
        required_action: {
          action_type: 'anonymize_action',
          chat_redaction_result: {
            all_redacted_messages: [],
            redacted_new_message: {role: 'user', content: 'Write to [EMAIL]'},
          },
        },
      },
      becomes: 'Write to [EMAIL]',
    },
    needs: 'apiKey',
  },
  {
    check: 'crowdstrike-aidr.guardChatCompletions',
    side: 'input',
    credentials: {...key, baseUrl: 'https://api.crowdstrike.example/aidr/aiguard/'},
    asked: {
      host: 'api.crowdstrike.example',
      path: '/aidr/aiguard/v1/guard_chat_completions',
      headers: BEARER,
      body: {
        guard_input: REQUEST as unknown as JsonValue,
        event_type: 'input',
        app_id: 'gateway',
        llm_provider: 'some-provider',
        model: 'model-a',
      },
    },
    pass: {status: 'Success', result: {blocked: false, transformed: false, policy: 'p'}},
    fail: {reply: {status: 'Success', result: {blocked: true, policy: 'p'}}, says: 'blocked'},
    redact: {
      reply: {
        status: 'Success',
        result: {
          blocked: false,
          transformed: true,
          guard_output: {
            ...REQUEST,
            messages: [MESSAGES[0]!, {role: 'user', content: 'Write to <email>'}],
          } as unknown as JsonValue,
        },
      },
      becomes: 'Write to <email>',
    },
    needs: 'baseUrl',
  },
  {
    check: 'exa.online',
    side: 'input',
    parameters: {numResults: 2, includeDomains: ['example.org']},
    credentials: key,
    asked: {
      host: 'api.exa.ai',
      path: '/search',
      headers: {'x-api-key': 'k-1'},
      body: {query: SAID, numResults: 2, contents: {text: true}, includeDomains: ['example.org']},
    },
    pass: {results: []},
    needs: 'apiKey',
  },
  {
    check: 'tavily.online',
    side: 'input',
    parameters: {excludeDomains: ['example.org']},
    credentials: key,
    asked: {
      host: 'api.tavily.com',
      path: '/search',
      headers: BEARER,
      body: {query: SAID, max_results: 5, search_depth: 'basic', topic: 'general', exclude_domains: ['example.org']},
    },
    pass: {query: SAID, results: []},
    needs: 'apiKey',
  },
  {
    check: 'f5-guardrails.scan',
    side: 'input',
    parameters: {projectId: 'p-1'},
    credentials: key,
    asked: {host: 'us1.calypsoai.app', path: '/backend/v1/scans', headers: BEARER, body: {input: SAID, project: 'p-1'}},
    pass: {id: '1', redactedInput: null, result: {scannerResults: [], outcome: 'cleared'}},
    fail: {reply: {id: '1', redactedInput: null, result: {scannerResults: [], outcome: 'flagged'}}, says: 'flagged'},
    redact: {
      parameters: {projectId: 'p-1', redact: true},
      reply: {id: '1', redactedInput: 'Write to ****', result: {scannerResults: [], outcome: 'redacted'}},
      becomes: 'Write to ****',
    },
    needs: 'apiKey',
  },
  {
    check: 'javelin.guardrails',
    side: 'output',
    credentials: {...key, domain: 'https://api.javelin.example', application: 'app-1'},
    asked: {
      host: 'api.javelin.example',
      path: '/v1/guardrails/apply',
      headers: {'x-javelin-apikey': 'k-1', 'x-javelin-application': 'app-1'},
      body: {input: {text: ANSWER}},
    },
    pass: {assessments: [{trustsafety: {request_reject: false}}]},
    fail: {
      reply: {
        assessments: [{trustsafety: {request_reject: false}}, {promptinjectiondetection: {request_reject: true}}],
      },
      says: 'promptinjectiondetection',
    },
    needs: 'application',
  },
  {
    check: 'lakera.guard',
    side: 'input',
    parameters: {project_id: 'project-1'},
    credentials: key,
    asked: {
      host: 'api.lakera.ai',
      path: '/v2/guard',
      headers: BEARER,
      body: {messages: [{role: 'user', content: SAID}], payload: true, breakdown: true, project_id: 'project-1'},
    },
    pass: {flagged: false, payload: [], breakdown: []},
    fail: {
      reply: {
        flagged: true,
        payload: [],
        breakdown: [
          {detector_type: 'prompt_attack', detected: true, message_id: 0},
          {detector_type: 'pii/email', detected: false},
        ],
      },
      says: 'prompt_attack',
    },
    redact: {
      parameters: {redact: true},
      reply: {
        flagged: true,
        payload: [{start: 9, end: 24, text: 'ada@example.com', detector_type: 'pii/email', labels: [], message_id: 0}],
        breakdown: [{detector_type: 'pii/email', detected: true, message_id: 0}],
      },
      becomes: 'Write to [EMAIL]',
    },
    needs: 'apiKey',
  },
  {
    check: 'lasso.classify',
    side: 'input',
    parameters: {conversationId: 'c-1', userId: 'u-1'},
    credentials: key,
    asked: {
      host: 'server.lasso.security',
      path: '/gateway/v3/classify',
      headers: {'lasso-api-key': 'k-1', 'lasso-conversation-id': 'c-1', 'lasso-user-id': 'u-1'},
      body: {messages: MESSAGES, messageType: 'PROMPT'},
    },
    pass: {deputies: {jailbreak: false}, findings: {}, violations_detected: false},
    fail: {
      reply: {deputies: {jailbreak: true, sexual: false}, findings: {}, violations_detected: true},
      says: 'jailbreak',
    },
    needs: 'apiKey',
  },
  {
    check: 'lasso.classify',
    side: 'output',
    credentials: key,
    asked: {
      host: 'server.lasso.security',
      path: '/gateway/v3/classify',
      headers: {'lasso-api-key': 'k-1'},
      body: {messages: [{role: 'assistant', content: ANSWER}], messageType: 'COMPLETION'},
    },
    pass: {violations_detected: false},
    fail: {reply: {violations_detected: true}},
  },
  {
    check: 'mistral.moderateContent',
    side: 'input',
    parameters: {categories: ['sexual', 'pii']},
    credentials: key,
    asked: {
      host: 'api.mistral.ai',
      path: '/v1/moderations',
      headers: BEARER,
      body: {model: 'mistral-moderation-latest', input: [SAID]},
    },
    pass: {id: 'm', model: 'm', results: [{categories: {sexual: false, law: true, pii: false}, category_scores: {}}]},
    fail: {reply: {results: [{categories: {sexual: false, law: true, pii: true}, category_scores: {}}]}, says: 'pii'},
    needs: 'apiKey',
  },
  {
    check: 'pangea.textGuard',
    side: 'input',
    parameters: {recipe: 'pangea_prompt_guard'},
    credentials: {...key, domain: 'aws.us.pangea.cloud'},
    asked: {
      host: 'ai-guard.aws.us.pangea.cloud',
      path: '/v1/text/guard',
      headers: BEARER,
      body: {text: SAID, recipe: 'pangea_prompt_guard'},
    },
    pass: {
      status: 'Success',
      summary: '',
      result: {blocked: false, detectors: {prompt_injection: {detected: false}, pii_entity: {detected: true}}},
    },
    fail: {
      reply: {status: 'Success', result: {blocked: true, detectors: {prompt_injection: {detected: true, data: {}}}}},
      says: 'prompt_injection',
    },
    needs: 'domain',
  },
  {
    check: 'pangea.pii',
    side: 'input',
    credentials: {...key, domain: 'aws.us.pangea.cloud'},
    asked: {
      host: 'redact.aws.us.pangea.cloud',
      path: '/v1/redact',
      headers: BEARER,
      body: {text: SAID, return_result: true},
    },
    pass: {status: 'Success', result: {redacted_text: SAID, count: 0}},
    fail: {reply: {status: 'Success', result: {redacted_text: 'Write to <EMAIL_ADDRESS>', count: 1}}, says: 'pii'},
    redact: {
      parameters: {redact: true},
      reply: {status: 'Success', result: {redacted_text: 'Write to <EMAIL_ADDRESS>', count: 1}},
      becomes: 'Write to <EMAIL_ADDRESS>',
    },
    needs: 'apiKey',
  },
  {
    check: 'panw-prisma-airs.intercept',
    side: 'output',
    parameters: {profile_name: 'dev', app_user: 'u-1'},
    credentials: {AIRS_API_KEY: 'k-1'},
    asked: {
      host: 'service.api.aisecurity.paloaltonetworks.com',
      path: '/v1/scan/sync/request',
      headers: {'x-pan-token': 'k-1'},
      body: {
        tr_id: 'trace-1',
        ai_profile: {profile_name: 'dev'},
        metadata: {ai_model: 'model-a', app_user: 'u-1', app_name: 'gateway'},
        contents: [{response: ANSWER}],
      },
    },
    pass: {action: 'allow', category: 'benign', response_detected: {dlp: false}},
    fail: {
      reply: {action: 'block', category: 'malicious', response_detected: {dlp: true, url_cats: false}},
      says: 'dlp',
    },
    needs: 'AIRS_API_KEY',
  },
  patronus('phi', 'phi'),
  patronus('pii', 'pii'),
  patronus('isConcise', 'judge', 'patronus:is-concise'),
  patronus('isHelpful', 'judge', 'patronus:is-helpful'),
  patronus('isPolite', 'judge', 'patronus:is-polite'),
  patronus('noApologies', 'judge', 'patronus:no-apologies'),
  patronus('noGenderBias', 'judge', 'patronus:no-gender-bias'),
  patronus('noRacialBias', 'judge', 'patronus:no-racial-bias'),
  patronus('retrievalAnswerRelevance', 'retrieval-answer-relevance'),
  patronus('retrievalHallucination', 'hallucination', 'patronus:hallucination'),
  patronus('toxicity', 'toxicity'),
  patronus('custom', 'judge', 'my-criteria'),
  {
    check: 'pillar.scanPrompt',
    side: 'input',
    parameters: {scanners: ['pii', 'prompt_injection']},
    credentials: key,
    asked: {
      host: 'api.pillarseclabs.com',
      path: '/api/v1/scan/prompt',
      headers: BEARER,
      body: {message: SAID, scanners: {pii: true, prompt_injection: true}},
    },
    pass: {pii: false, prompt_injection: false, secrets: null},
    fail: {reply: {pii: true, prompt_injection: false, secrets: null}, says: 'pii'},
    needs: 'apiKey',
  },
  {
    check: 'pillar.scanResponse',
    side: 'output',
    parameters: {scanners: ['pii', 'secrets', 'toxic_language']},
    credentials: key,
    asked: {
      host: 'api.pillarseclabs.com',
      path: '/api/v1/scan/response',
      headers: BEARER,
      body: {message: ANSWER, scanners: {pii: true, secrets: true, toxic_language: true}},
    },
    pass: {pii: false, secrets: false, toxic_language: null},
    fail: {reply: {pii: false, secrets: [{type: 'key'}], toxic_language: null}, says: 'secrets'},
  },
  promptfoo('guard'),
  promptfoo('harm'),
  {
    ...promptfoo('pii'),
    credentials: key,
    asked: {host: 'api.promptfoo.dev', path: '/v1/pii', headers: BEARER, body: {input: SAID}},
    fail: {
      reply: {
        results: [
          {categories: {pii: true}, flagged: true, payload: {pii: [{entity_type: 'email_address', start: 9, end: 24}]}},
        ],
      },
      says: 'email_address',
    },
    redact: {
      parameters: {redact: true},
      reply: {
        results: [
          {
            categories: {pii: true},
            flagged: true,
            payload: {pii: [{entity_type: 'email_address', start: 9, end: 24, pii: 'ada@example.com'}]},
          },
        ],
      },
      becomes: 'Write to [EMAIL_ADDRESS]',
    },
  },
  {
    check: 'promptsecurity.protectPrompt',
    side: 'input',
    parameters: {user: 'u-1'},
    credentials: {...key, apiDomain: 'eu.prompt.example'},
    asked: {
      host: 'eu.prompt.example',
      path: '/api/protect',
      headers: {'app-id': 'k-1'},
      body: {prompt: SAID, user: 'u-1'},
    },
    pass: {
      status: 'success',
      result: {action: 'log', prompt: {passed: true, action: 'log', violations: [], modified_text: null}},
    },
    fail: {
      reply: {result: {prompt: {action: 'block', violations: ['Prompt Injection Engine'], modified_text: null}}},
      says: 'Prompt Injection Engine',
    },
    redact: {
      reply: {result: {prompt: {action: 'modify', violations: ['Sensitive Data'], modified_text: 'Write to ****'}}},
      becomes: 'Write to ****',
    },
    needs: 'apiDomain',
  },
  {
    check: 'promptsecurity.protectResponse',
    side: 'output',
    credentials: {...key, apiDomain: 'eu.prompt.example'},
    asked: {host: 'eu.prompt.example', path: '/api/protect', headers: {'app-id': 'k-1'}, body: {response: ANSWER}},
    pass: {result: {response: {action: 'log', modified_text: null}}},
    fail: {reply: {result: {response: {action: 'modify', modified_text: null}}}},
    redact: {reply: {result: {response: {action: 'modify', modified_text: 'Sent to ****'}}}, becomes: 'Sent to ****'},
  },
  qualifire('contentModeration', 'input', {content_moderation_check: true}),
  qualifire('hallucinations', 'output', {hallucinations_check: true}),
  qualifire('pii', 'output', {pii_check: true}),
  qualifire('promptInjections', 'input', {prompt_injections: true}),
  qualifire('grounding', 'output', {grounding_check: true}),
  qualifire('policy', 'input', {assertions: ['Be kind.']}, {policies: ['Be kind.']}),
  {
    ...qualifire('toolUseQuality', 'output', {}),
    asked: {
      ...qualifire('toolUseQuality', 'output', {}).asked,
      body: {
        messages: [
          {role: 'user', content: SAID},
          {role: 'assistant', content: ANSWER},
        ],
        tool_selection_quality_check: true,
      },
    },
  },
  {
    check: 'sydelabs.sydeguard',
    side: 'input',
    parameters: {prompt_injection_threshold: 0.8, toxicity_threshold: 0.9, evasion_threshold: 0.5},
    credentials: key,
    asked: {
      host: 'guard.sydelabs.ai',
      path: '/api/v1/guard/generate-score',
      headers: {'x-api-key': 'k-1'},
      body: {prompt: SAID},
    },
    pass: {
      category_scores: [
        {category: 'PROMPT_INJECT', score: 0.8},
        {category: 'TOXIC', score: 0.1},
      ],
      overall_risk: true,
    },
    fail: {
      reply: {
        category_scores: [
          {category: 'PROMPT_INJECT', score: 0.1},
          {category: 'TOXIC', score: 1},
        ],
        overall_risk: true,
      },
      says: 'TOXIC',
    },
    needs: 'apiKey',
  },
  {
    check: 'walledai.walledprotect',
    side: 'input',
    parameters: {pii_list: ['Email Id'], greetings_list: []},
    credentials: key,
    asked: {
      host: 'services.walled.ai',
      path: '/v1/walled-protect',
      headers: {'x-api-key': 'k-1'},
      body: {text: SAID, generic_safety_check: true, greetings_list: [], pii_list: ['Email Id'], compliance_list: []},
    },
    pass: {success: true, data: {safety: [{safety: 'generic', isSafe: true, score: 4}]}},
    fail: {reply: {success: true, data: {safety: [{safety: 'generic', isSafe: false, score: 0}]}}, says: 'unsafe'},
    needs: 'apiKey',
  },
  {
    check: 'zscaler.guard',
    side: 'output',
    parameters: {policyId: '760'},
    credentials: key,
    asked: {
      host: 'api.us1.zseclipse.net',
      path: '/v1/detection/execute-policy',
      headers: BEARER,
      body: {policyId: 760, direction: 'OUT', content: ANSWER},
    },
    pass: {statusCode: 200, action: 'DETECT', detectorResponses: {toxicity: {action: 'DETECT'}}},
    fail: {
      reply: {
        statusCode: 200,
        action: 'BLOCK',
        detectorResponses: {toxicity: {action: 'BLOCK'}, pii: {action: 'ALLOW'}},
      },
      says: 'toxicity',
    },
    needs: 'apiKey',
  },
]
