// state.js: what the reader is looking at, and which heads that makes. Every part of the explorer
// reads this and redraws when told; none knows of the others.

export const ALL = -1; // as a model: all of them

export function makeState(data) {
    const { heads, models } = data;
    const listeners = [];
    let waiting = false;

    const state = {
        // of a training run the end, from where "play" begins anew
        model: data.training ? models.count - 1 : models.count > 1 ? ALL : 0,
        pc: 0,
        scheme: null, // of colours.js
        hidden: new Set(), // categories of the scheme
        bins: new Set(), // of depth; empty: all
        query: '',
        matches: () => true, // made from the query by search.js
        selection: new Set(), // keys
        head: -1, // whose card is shown
        trails: data.training,
    };

    // In a training run a head is the same head at every checkpoint.
    const key = data.training ? (h) => `${heads.layer[h]}/${heads.head[h]}` : (h) => h;

    function passes(h) {
        return (
            (state.bins.size === 0 || state.bins.has(heads.bin[h])) &&
            !state.hidden.has(state.scheme.category(h)) &&
            state.matches(h)
        );
    }

    const inModel = () =>
        state.model === ALL ? heads.layer.keys() : data.headsOf[state.model].values();

    return Object.assign(state, {
        key,
        onChange(listener) {
            listeners.push(listener);
        },
        // Changes come together: one redraw for all of one turn.
        set(changes) {
            Object.assign(state, changes);
            if (waiting) return;
            waiting = true;
            queueMicrotask(() => {
                waiting = false;
                for (const listener of listeners) listener();
            });
        },
        goTo(model) {
            const selection = data.training || model === state.model ? state.selection : new Set();
            const same =
                data.training && state.head >= 0 && model !== ALL
                    ? data.inModel(state.head, model)
                    : -1;
            state.set({ model, selection, head: same >= 0 ? same : state.head });
        },
        // Heads of the model in view that pass the filters; of these in focus are the selected ones, or
        // all if none is selected. The rest only give context.
        split() {
            const matching = [];
            const focus = [];
            const context = [];
            for (const h of inModel()) {
                const match = passes(h);
                if (match) matching.push(h);
                (match && (state.selection.size === 0 || state.selection.has(key(h)))
                    ? focus
                    : context
                ).push(h);
            }
            return { matching, focus, context };
        },
        isFiltered: () =>
            state.bins.size > 0 ||
            state.hidden.size > 0 ||
            state.query !== '' ||
            state.selection.size > 0,
        select(list, add) {
            const selection = new Set(add ? state.selection : []);
            for (const h of list) selection.add(key(h));
            state.set({ selection });
        },
        toggle(h) {
            const selection = new Set(state.selection);
            if (!selection.delete(key(h))) selection.add(key(h));
            state.set({ selection });
        },
        reset() {
            state.set({
                bins: new Set(),
                hidden: new Set(),
                selection: new Set(),
                query: '',
                matches: () => true,
            });
        },
    });
}
