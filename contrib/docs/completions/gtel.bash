# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Written by contrib/ci/docs; do not edit.
_gtel() {
    local name="" word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local words="" before_word=""
    # A "=" is a word for itself.
    if [ "$word" = "=" ]; then
        name=$before word=""
    elif [ "$before" = "=" ]; then
        name=${COMP_WORDS[COMP_CWORD - 2]}
    else
        name=$before
    fi
    COMPREPLY=()
    case $name in
    --sources) words="uevents amdgpu_uevents i915 xe amdgpu amdgpu_parts drm npu xe_pmu xe_stall busy_files drm_memory rapl drm_health drm_ras amdgpu_health amdgpu_ras drm_clients sysman l0metrics nvml wddm amd_tool macmon wddm_clients wmi" ;;
    --unchanged) words="send omit" ;;
    --wake) words="never always" ;;
    --i915-sampling) words="off on" ;;
    --xe-engines) words="burst hold off" ;;
    --xe-stalls) words="off on" ;;
    --l0-metrics) words="off on" ;;
    --engine-instances) words="off on" ;;
    --process-tags) words="container pod namespace pod_uid job_id unit user pid" ;;
    --process-energy) words="off on" ;;
    --isolation) words="process none" ;;
    esac
    case $name:$words in
    --root: | --config: | --amd-tool:)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    --sources:* | --process-tags:*)
        case $word in *,*) before_word=${word%,*}, ;; esac
        word=${word##*,}
        ;;
    *:?*) ;;
    *)
        words="--once --watch --explain --fix-script --count= --root= --stepped --config= --poll-interval= --poll-interval-disabled --list-metrics --list-sources --help --version --interval= --deadline= --sample-interval= --sources= --rescan= --info-interval= --unchanged= --wake= --i915-sampling= --xe-engines= --xe-stalls= --l0-metrics= --amd-tool= --engine-instances= --process-limit= --process-tags= --process-energy= --isolation= --host-tag="
        [ "$COMP_CWORD" -gt 1 ] || words="doctor capture $words"
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -P "$before_word" -W "$words" -- "$word")
    case ${COMPREPLY-} in *=) compopt -o nospace 2>/dev/null ;; esac
}
complete -o default -F _gtel gtel
