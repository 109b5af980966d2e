import {expect, test} from 'vitest'
import {foundationModel, modelPath, vendor} from '../../../src/providers/bedrock/model.ts'
import {contextOf} from './fixtures.ts'

const ARN = 'arn:aws:bedrock:us-west-2:111122223333'

test.each([
  ['anthropic.claude-3-haiku-20240307-v1:0', 'anthropic.claude-3-haiku-20240307-v1:0', 'anthropic'],
  ['us.anthropic.claude-3-haiku-20240307-v1:0', 'anthropic.claude-3-haiku-20240307-v1:0', 'anthropic'],
  ['us-gov.anthropic.claude-3-haiku-20240307-v1:0', 'anthropic.claude-3-haiku-20240307-v1:0', 'anthropic'],
  ['eu.amazon.nova-lite-v1:0', 'amazon.nova-lite-v1:0', 'amazon'],
  ['apac.amazon.nova-lite-v1:0', 'amazon.nova-lite-v1:0', 'amazon'],
  ['global.cohere.embed-v4:0', 'cohere.embed-v4:0', 'cohere'],
  ['meta.llama3-8b-instruct-v1:0', 'meta.llama3-8b-instruct-v1:0', 'meta'],
  [
    'arn:aws:bedrock:us-east-1::foundation-model/amazon.titan-embed-text-v2:0',
    'amazon.titan-embed-text-v2:0',
    'amazon',
  ],
  [`${ARN}:inference-profile/us.meta.llama3-3-70b-instruct-v1:0`, 'meta.llama3-3-70b-instruct-v1:0', 'meta'],
  [`${ARN}:custom-model/amazon.titan-text-lite-v1:0:4k/abcdef`, 'amazon.titan-text-lite-v1:0:4k', 'amazon'],
  [`${ARN}:application-inference-profile/abc123`, null, null],
  [`${ARN}:provisioned-model/abc123`, null, null],
  [`${ARN}:imported-model/abc123`, null, null],
  [`${ARN}:prompt-router/abc123`, null, null],
  ['arn:aws:bedrock', null, null],
  ['a-name-without-a-vendor', 'a-name-without-a-vendor', null],
])('%s is %s of %s', (model, id, maker) => {
  expect([foundationModel(model), vendor(model)]).toEqual([id, maker])
})

test('an ARN stands in the path as one segment', () => {
  const model = `${ARN}:inference-profile/us.meta.llama3-3-70b-instruct-v1:0`
  expect(modelPath(contextOf({model}), 'converse')).toBe(
    '/model/arn%3Aaws%3Abedrock%3Aus-west-2%3A111122223333%3Ainference-profile%2Fus.meta.llama3-3-70b-instruct-v1%3A0/converse',
  )
})
