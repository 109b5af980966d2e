import {workersAi} from '../../../src/providers/workers-ai/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

testFixtures(workersAi, {chatComplete: 3, complete: 3, embed: 3, imageGenerate: 3})
testHostile(workersAi, ['chatComplete', 'complete', 'embed', 'imageGenerate'])
