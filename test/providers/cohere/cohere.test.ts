import {cohere} from '../../../src/providers/cohere/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

testFixtures(cohere, {chatComplete: 12, complete: 3, embed: 3, rerank: 3})
testHostile(cohere, ['chatComplete', 'complete', 'embed', 'rerank'])
