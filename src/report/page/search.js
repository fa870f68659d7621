// search.js: the search box over heads. Words must all hold: "L12" and "H3" are exact, "r_k<-0.3"
// compares a number, anything else is looked for in model, group, class and RoPE/NoPE.

const COMPARE = {
    '<': (a, b) => a < b,
    '>': (a, b) => a > b,
    '<=': (a, b) => a <= b,
    '>=': (a, b) => a >= b,
    '=': (a, b) => a === b,
};

// Numbers of a head by the names of the tables; PC0 unless the state says another PC.
function numberOf(data, state, name) {
    if (['r_q', 'r_k', 'explained_variance'].includes(name))
        return (h) => data.pc(name, h, state.pc);
    if (!(data.heads[name] instanceof Float64Array)) return null;
    return (h) => data.heads[name][h];
}

function test(data, state, word) {
    const { heads, models } = data;
    const place = /^([lh])(\d+)$/.exec(word);
    if (place) {
        const column = place[1] === 'l' ? heads.layer : heads.head;
        return (h) => column[h] === Number(place[2]);
    }
    const comparison = /^(\w+)(<=|>=|<|>|=)(-?[\d.]+(?:e-?\d+)?)$/.exec(word);
    const number = comparison && numberOf(data, state, comparison[1]);
    if (number) {
        const compare = COMPARE[comparison[2]];
        return (h) => compare(number(h), Number(comparison[3]));
    }
    return (h) => {
        const m = heads.model[h];
        const rope = { 1: 'rope', 0: 'nope' }[heads.rope?.[h]] ?? '';
        return `${models.name[m]}\n${models.group[m] ?? ''}\n${heads.class?.[h] ?? ''}\n${rope}\n${heads.flags?.[h] ?? ''}`
            .toLowerCase()
            .includes(word);
    };
}

export function matcher(data, state, query) {
    const words = query
        .toLowerCase()
        .replace(/\s*(<=|>=|<|>|=)\s*/g, '$1')
        .split(/\s+/)
        .filter(Boolean);
    const tests = words.map((word) => test(data, state, word.replace('−', '-')));
    return (h) => tests.every((t) => t(h));
}
