import {expect, test} from 'vitest'
import {azureModel, azurePath} from '../../../src/providers/base-urls/azure-openai.ts'
import {withParameter} from '../../../src/providers/base-urls/base-url.ts'
import {optionsOfSettings} from '../../../src/providers/options.ts'
import type {EndpointRequest} from '../../../src/providers/provider.ts'

const chat = (model: string): EndpointRequest => ({
  endpoint: 'chatComplete',
  path: '/chat/completions',
  query: '',
  model,
  is_stream: false,
})
const DEPLOYMENTS = optionsOfSettings({
  azure_deployment_config: [
    {azure_deployment_name: 'four', azure_api_version: '2024-10-21', azure_model_slug: 'gpt-4o'},
    {
      azure_deployment_name: 'mini',
      azure_api_version: '2024-06-01',
      azure_model_slug: 'gpt-4o-mini',
      alias: 'fast',
      is_default: true,
    },
    {azure_deployment_name: 'five', azure_api_version: 'v1', azure_model_slug: 'gpt-5'},
  ],
})

test.each([
  ['gpt-4o', '/deployments/four/chat/completions?api-version=2024-10-21', 'gpt-4o'],
  ['four', '/deployments/four/chat/completions?api-version=2024-10-21', 'four'],
  ['fast', '/deployments/mini/chat/completions?api-version=2024-06-01', 'fast'],
  ['gpt-4o-mini', '/deployments/mini/chat/completions?api-version=2024-06-01', 'gpt-4o-mini'],
  ['gpt-5', '/v1/chat/completions', 'five'],
  ['unknown', '/deployments/mini/chat/completions?api-version=2024-06-01', 'unknown'],
  ['', '/deployments/mini/chat/completions?api-version=2024-06-01', ''],
])('of several deployments the model %j is served at %s', (model, path, named) => {
  expect(azurePath(chat(model), DEPLOYMENTS)).toBe(path)
  expect(azureModel(model, DEPLOYMENTS)).toBe(named)
})

test('a deployment that is named counts, and a model to name in the body', () => {
  const options = {
    ...DEPLOYMENTS,
    azure_deployment_id: 'own',
    azure_api_version: '2025-01-01-preview',
    azure_model_name: 'gpt-4.1',
  }
  expect(azurePath(chat('gpt-4o'), options)).toBe('/deployments/own/chat/completions?api-version=2025-01-01-preview')
  expect(azureModel('gpt-4o', options)).toBe('gpt-4.1')
})

test('without a version it is the undated one, with the deployment as the model', () => {
  expect(azurePath(chat('dep'), {})).toBe('/v1/chat/completions')
  expect(azureModel('dep', {})).toBe('dep')
})

test('files, batches, responses and pass-through belong to the resource', () => {
  const dated = {azure_api_version: '2024-10-21', azure_deployment_id: 'dep'}
  const at = (
    endpoint: EndpointRequest['endpoint'],
    path: string,
    query = '',
    options: Record<string, string> = dated,
  ) => azurePath({endpoint, path, query, model: '', is_stream: false}, options)
  expect(at('retrieveFile', '/files/file-1')).toBe('/files/file-1?api-version=2024-10-21')
  expect(at('createModelResponse', '/responses')).toBe('/responses?api-version=2024-10-21')
  expect(at('proxy', '/assistants', '?limit=1')).toBe('/assistants?limit=1&api-version=2024-10-21')
  expect(at('proxy', '/assistants', '?api-version=2024-02-15-preview')).toBe(
    '/assistants?api-version=2024-02-15-preview',
  )
  expect(at('proxy', '/v1/models', '', {azure_api_version: 'v1'})).toBe('/v1/models')
  expect(at('listModels', '/models', '?a=b', {azure_api_version: 'v1'})).toBe('/v1/models?a=b')
})

test('realtime names the deployment in the query, of the undated version the model as it came', () => {
  const realtime = (options: Record<string, string>) =>
    azurePath({endpoint: 'realtime', path: '/realtime', query: '?model=rt&x=y', model: 'rt', is_stream: true}, options)
  expect(realtime({azure_api_version: '2024-10-01-preview'})).toBe(
    '/realtime?x=y&api-version=2024-10-01-preview&deployment=rt',
  )
  expect(realtime({})).toBe('/v1/realtime?model=rt&x=y')
})

test('a list of deployments that is none, or leads elsewhere, is refused', () => {
  for (const azure_deployments of ['{', '{}', '"x"'])
    expect(() => azurePath(chat('m'), {azure_deployments})).toThrow('azure_deployments: expected a list')
  const one = (deployment: object) => ({azure_deployments: JSON.stringify([{is_default: true, ...deployment}])})
  expect(() => azurePath(chat('m'), one({deployment_id: '../x', api_version: '2024-10-21'}))).toThrow(
    'azure_deployment_id: expected',
  )
  expect(() => azurePath(chat('m'), one({deployment_id: 'd', api_version: 'x&y'}))).toThrow(
    'azure_api_version: expected',
  )
  expect(() => azurePath(chat('a/b'), {azure_api_version: '2024-10-21'})).toThrow('azure_deployment_id: expected')
  expect(() => azurePath(chat(''), {azure_api_version: '2024-10-21'})).toThrow(
    'expected a deployment, or a model that names one',
  )
})

test('a parameter is added once', () => {
  expect(withParameter('', 'a', 'b c')).toBe('?a=b%20c')
  expect(withParameter('?x', 'a', 'b')).toBe('?x&a=b')
  expect(withParameter('?a=c', 'a', 'b')).toBe('?a=c')
  expect(withParameter('?aa=c', 'a', 'b')).toBe('?aa=c&a=b')
})
