import {mistral} from '../../../src/providers/mistral/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

testFixtures(mistral, {chatComplete: 12, complete: 3, embed: 3})
testHostile(mistral, ['chatComplete', 'complete', 'embed'])
