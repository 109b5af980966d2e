import {list, object} from '../dialects/words.ts'
import {geminiRules, geminiStrict} from './gemini.ts'
import {first, type StrictDialect, type StrictRule, unknownMember, when} from './rule.ts'

const KNOWN = `contents systemInstruction tools toolConfig generationConfig safetySettings cachedContent labels
  modelArmorConfig serviceTier`

/** Beside Gemini's own. */
const rules: readonly StrictRule[] = [
  {
    id: 'ids of calls',
    source: 'cloud.google.com/vertex-ai, FunctionCall: "Invalid JSON payload received. Unknown name \\"id\\""',
    finds: body =>
      first(
        list(body.contents).flatMap(({parts}) => list(parts)),
        ({functionCall, functionResponse}) =>
          when(object(functionCall ?? functionResponse).id !== undefined, 'an id of a call'),
      ),
    bad: {
      contents: [
        {role: 'user', parts: [{text: 'x'}]},
        {role: 'model', parts: [{functionCall: {id: 'a', name: 'read', args: {}}}]},
        {role: 'user', parts: [{functionResponse: {id: 'a', name: 'read', response: {}}}]},
      ],
    },
  },
  {
    id: 'known members',
    source: 'cloud.google.com/vertex-ai, REST, models.generateContent, request body',
    finds: body => unknownMember(body, KNOWN, 'the body'),
    bad: {model: 'gemini-2.5-flash'},
  },
  {
    id: 'labels',
    source: 'cloud.google.com/vertex-ai, generateContent, labels: keys begin with a letter; lower case, 63 characters',
    finds: ({labels}) =>
      first(Object.entries(object(labels)), ([key, value]) =>
        when(
          !/^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u.test(key) || String(value).length > 63,
          `the label ${key}`,
        ),
      ),
    bad: {labels: {Team: 'x'}},
  },
]

export const vertexStrict: StrictDialect = {...geminiStrict, name: 'vertex', rules: [...geminiRules, ...rules]}
