import {ai21} from '../../../src/providers/ai21/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

testFixtures(ai21, {chatComplete: 3, complete: 3, embed: 3})
testHostile(ai21, ['chatComplete', 'complete', 'embed'])
